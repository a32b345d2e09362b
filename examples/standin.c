/*
 * standin.c - a stand-in model: a server that speaks like the real ones
 *
 *     standin --cert FILE --key FILE    https on 127.0.0.1, a free port
 *     standin --plain                   the same without TLS
 *         --port N         this port
 *         --seconds N      end after so long, whatever standard input does
 *         --require KEY    refuse requests that carry another key
 *
 * It prints its address as one line and ends when its standard input does, so
 * it never outlives the program that started it. It answers
 *
 *     POST /v1/chat/completions   as OpenAI does
 *     POST /v1/messages           as Anthropic does
 *     POST /api/chat              as Ollama does
 *
 * whole or streamed. It is no language model: standin_guess.h tells how it
 * picks tools. What the real servers refuse, it refuses too.
 *
 * From top to bottom: the connection, reading a request, deciding, writing
 * the answer in each format, HTTP, main.
 */
#define _POSIX_C_SOURCE 200809L
#include "examples/standin_guess.h"

#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif

enum {
    MAX_HEAD = 16 * 1024,
    MAX_BODY = 4 * 1024 * 1024,
    MAX_RESULTS = 32,
    MAX_RESULT_TEXT = 2000, /* bytes of one result that are repeated */
    MAX_ANSWER = 64 * 1024,
    IDLE_SECONDS = 300,
    CHUNK = 61, /* streams leave in pieces that fit nothing */
    PIECE = 7   /* ... and say about this much at a time */
};

static void die(const char *what)
{
    fprintf(stderr, "standin: %s\n", what);
    exit(1);
}

/* --------------------------------------------------------------------------
 * The connection: TLS or plain
 */

typedef struct tls_server {
    mbedtls_ssl_config conf;
    mbedtls_x509_crt cert;
    mbedtls_pk_context key;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context random;
} tls_server;

typedef struct conn {
    int fd;
    bool tls;
    mbedtls_ssl_context ssl;
} conn;

static void tls_load(tls_server *s, const char *cert, const char *key)
{
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->cert);
    mbedtls_pk_init(&s->key);
    mbedtls_entropy_init(&s->entropy);
    mbedtls_ctr_drbg_init(&s->random);
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    if (psa_crypto_init() != PSA_SUCCESS)
        die("TLS: no entropy");
#endif
    if (mbedtls_ctr_drbg_seed(&s->random, mbedtls_entropy_func, &s->entropy,
                              NULL, 0) != 0)
        die("TLS: no entropy");
    if (mbedtls_x509_crt_parse_file(&s->cert, cert) != 0)
        die("cannot read the certificate: give --cert FILE, or --plain");
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    if (mbedtls_pk_parse_keyfile(&s->key, key, NULL, mbedtls_ctr_drbg_random,
                                 &s->random) != 0)
#else
    if (mbedtls_pk_parse_keyfile(&s->key, key, NULL) != 0)
#endif
        die("cannot read the certificate's key: give --key FILE");
    if (mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER,
                                    MBEDTLS_SSL_TRANSPORT_STREAM,
                                    MBEDTLS_SSL_PRESET_DEFAULT) != 0 ||
        mbedtls_ssl_conf_own_cert(&s->conf, &s->cert, &s->key) != 0)
        die("the certificate cannot be used");
    mbedtls_ssl_conf_rng(&s->conf, mbedtls_ctr_drbg_random, &s->random);
}

static int socket_send(void *user, const unsigned char *bytes, size_t len)
{
    ssize_t n = send(*(int *)user, bytes, len, MSG_NOSIGNAL);

    return n < 0 ? MBEDTLS_ERR_NET_SEND_FAILED : (int)n;
}

static int socket_receive(void *user, unsigned char *bytes, size_t len)
{
    ssize_t n = recv(*(int *)user, bytes, len, 0);

    return n < 0 ? MBEDTLS_ERR_NET_RECV_FAILED : (int)n;
}

static bool conn_open(conn *c, int fd, tls_server *server)
{
    c->fd = fd;
    c->tls = server != NULL;
    mbedtls_ssl_init(&c->ssl);
    if (!server)
        return true;
    /* This process is a copy: its random numbers must be its own. */
    if (mbedtls_ctr_drbg_reseed(&server->random, NULL, 0) != 0 ||
        mbedtls_ssl_setup(&c->ssl, &server->conf) != 0)
        return false;
    mbedtls_ssl_set_bio(&c->ssl, &c->fd, socket_send, socket_receive, NULL);
    return mbedtls_ssl_handshake(&c->ssl) == 0;
}

static void conn_close(conn *c)
{
    if (c->tls)
        mbedtls_ssl_close_notify(&c->ssl);
    mbedtls_ssl_free(&c->ssl);
    close(c->fd);
}

/* > 0: bytes; 0 or less: it is over. */
static int conn_read(conn *c, char *bytes, size_t cap)
{
    if (c->tls)
        return mbedtls_ssl_read(&c->ssl, (unsigned char *)bytes, cap);
    return socket_receive(&c->fd, (unsigned char *)bytes, cap);
}

static int conn_write(void *user, const char *bytes, size_t len)
{
    conn *c = user;
    const unsigned char *p = (const unsigned char *)bytes;
    int n = c->tls ? mbedtls_ssl_write(&c->ssl, p, len)
                   : socket_send(&c->fd, p, len);

    return n > 0 ? n : TCALL_E_CLOSED;
}

static bool conn_write_all(conn *c, const char *bytes, size_t len)
{
    while (len) {
        int n = conn_write(c, bytes, len);
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* A sink that sends each piece as one chunk of HTTP. */
static int conn_write_chunk(void *user, const char *bytes, size_t len)
{
    char head[16];
    int n = snprintf(head, sizeof head, "%zx\r\n", len);

    if (!conn_write_all(user, head, (size_t)n) ||
        !conn_write_all(user, bytes, len) || !conn_write_all(user, "\r\n", 2))
        return TCALL_E_CLOSED;
    return (int)len;
}

/* --------------------------------------------------------------------------
 * What is asked, whichever format it came in
 */

typedef enum format { OPENAI, ANTHROPIC, OLLAMA } format;

typedef struct result {
    tcall_str id, name, text;
    bool error;
} result;

typedef struct ask {
    format format;
    const char *model;
    bool stream;
    bool none, must, single; /* tool_choice and parallel calls */
    guess_tool tools[GUESS_TOOLS];
    int tool_count;
    tcall_str text; /* what the user said last */
    /* Calls since then, with their results as far as they are there. */
    result results[MAX_RESULTS];
    int call_count, result_count;
    char fault[200]; /* what is wrong with the request */
} ask;

__attribute__((format(printf, 2, 3))) static void fault(ask *a,
                                                        const char *form, ...)
{
    va_list args;

    if (a->fault[0])
        return;
    va_start(args, form);
    vsnprintf(a->fault, sizeof a->fault, form, args);
    va_end(args);
}

static tcall_json member(tcall_json v, const char *a, const char *b)
{
    v = tcall_json_get(v, a);
    return b ? tcall_json_get(v, b) : v;
}

static bool is(tcall_json v, const char *text)
{
    return strcmp(tcall_json_string(v, ""), text) == 0;
}

static void read_tool(ask *a, tcall_json tool, const char *schema)
{
    guess_tool *t = &a->tools[a->tool_count];
    const char *name = tcall_json_string(tcall_json_get(tool, "name"), "");
    size_t n = strlen(name);

    if (a->tool_count == GUESS_TOOLS)
        return;
    if (n < 1 || n > (a->format == ANTHROPIC ? 128 : 64) ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789_-") != n)
        fault(a, "tools[%d]: the name must match ^[a-zA-Z0-9_-]{1,64}$",
              a->tool_count);
    t->name = name;
    t->description = tcall_json_string(tcall_json_get(tool, "description"), "");
    t->parameters = tcall_json_get(tool, schema);
    if (t->parameters.tok &&
        !is(tcall_json_get(t->parameters, "type"), "object"))
        fault(a, "tools[%d].%s.type: must be 'object'", a->tool_count, schema);
    if (!t->parameters.tok && a->format == ANTHROPIC)
        fault(a, "tools.%d.custom.input_schema: Field required", a->tool_count);
    a->tool_count++;
}

/* Keeps one tool only, and demands a call of it. */
static void keep_tool(ask *a, tcall_json name)
{
    a->must = true;
    for (int i = 0; i < a->tool_count; i++)
        if (is(name, a->tools[i].name)) {
            a->tools[0] = a->tools[i];
            a->tool_count = 1;
            return;
        }
    fault(a, "tool_choice names a tool that is not there: %s",
          tcall_json_string(name, "?"));
}

static void user_said(ask *a, tcall_str text)
{
    if (a->call_count != a->result_count)
        fault(a, "tool calls must be followed by a result for each of them");
    a->text = text;
    a->call_count = a->result_count = 0;
}

static void model_called(ask *a, tcall_json id, tcall_json name)
{
    result *r = &a->results[a->call_count];

    if (a->call_count == MAX_RESULTS) {
        fault(a, "too many calls in one turn");
        return;
    }
    memset(r, 0, sizeof *r);
    r->id = tcall_json_str(id);
    r->name = tcall_json_str(name);
    a->call_count++;
}

/* id may be missing: then results come in the order of calls. */
static void tool_answered(ask *a, tcall_json id, tcall_str text, bool error)
{
    for (int i = 0; i < a->call_count; i++) {
        result *r = &a->results[i];
        if (r->text.ptr || (id.tok && !tcall_str_eq(r->id, tcall_json_str(id))))
            continue;
        r->text = text.ptr ? text : tcall_str_of("");
        r->error = error;
        a->result_count++;
        return;
    }
    fault(a, "a tool result answers no call: %s", tcall_json_string(id, "?"));
}

/* Content is text, or an array of blocks; the last text counts. */
static tcall_str content_text(tcall_json content)
{
    tcall_str text = tcall_json_str(content);

    if (tcall_json_type(content) != TCALL_ARRAY)
        return text;
    text = tcall_str_of("");
    for (tcall_json v = tcall_json_first(content); v.tok;
         v = tcall_json_next(v))
        if (tcall_json_get(v, "text").tok)
            text = tcall_json_str(tcall_json_get(v, "text"));
    return text;
}

static void read_openai_message(ask *a, tcall_json m)
{
    tcall_json role = tcall_json_get(m, "role");
    tcall_json content = tcall_json_get(m, "content");
    tcall_json calls = tcall_json_get(m, "tool_calls");

    if (is(role, "user"))
        user_said(a, content_text(content));
    for (tcall_json c = tcall_json_first(calls); c.tok;
         c = tcall_json_next(c)) {
        tcall_json args = member(c, "function", "arguments");
        tcall_type want = a->format == OLLAMA ? TCALL_OBJECT : TCALL_STRING;
        if (tcall_json_type(args) != want)
            fault(a, "tool_calls.function.arguments: must be %s",
                  want == TCALL_OBJECT ? "an object" : "a string");
        model_called(a, tcall_json_get(c, "id"), member(c, "function", "name"));
    }
    if (is(role, "tool")) {
        tcall_json id = tcall_json_get(m, "tool_call_id");
        if (!id.tok && a->format == OPENAI)
            fault(a, "messages: a tool message needs 'tool_call_id'");
        tool_answered(a, id, content_text(content), false);
    }
}

static void read_openai(ask *a, tcall_json root)
{
    tcall_json tools = tcall_json_get(root, "tools");
    tcall_json choice = tcall_json_get(root, "tool_choice");
    tcall_json messages = tcall_json_get(root, "messages");

    for (tcall_json t = tcall_json_first(tools); t.tok; t = tcall_json_next(t))
        read_tool(a, tcall_json_get(t, "function"), "parameters");
    if (a->format == OPENAI) {
        a->none = is(choice, "none");
        a->must = is(choice, "required");
        if (tcall_json_get(choice, "function").tok)
            keep_tool(a, member(choice, "function", "name"));
        a->single =
            !tcall_json_bool(tcall_json_get(root, "parallel_tool_calls"), true);
    }
    for (tcall_json m = tcall_json_first(messages); m.tok;
         m = tcall_json_next(m))
        read_openai_message(a, m);
}

static void read_anthropic_block(ask *a, tcall_json role, tcall_json b)
{
    tcall_json type = tcall_json_get(b, "type");

    if (is(type, "tool_use")) {
        if (tcall_json_type(tcall_json_get(b, "input")) != TCALL_OBJECT)
            fault(a, "messages: tool_use.input: must be an object");
        model_called(a, tcall_json_get(b, "id"), tcall_json_get(b, "name"));
    } else if (is(type, "tool_result")) {
        tool_answered(a, tcall_json_get(b, "tool_use_id"),
                      content_text(tcall_json_get(b, "content")),
                      tcall_json_bool(tcall_json_get(b, "is_error"), false));
    } else if (is(type, "text") && is(role, "user")) {
        user_said(a, tcall_json_str(tcall_json_get(b, "text")));
    }
}

static void read_anthropic(ask *a, tcall_json root)
{
    tcall_json tools = tcall_json_get(root, "tools");
    tcall_json choice = tcall_json_get(root, "tool_choice");
    tcall_json messages = tcall_json_get(root, "messages");

    if (tcall_json_int(tcall_json_get(root, "max_tokens"), 0) < 1)
        fault(a, "max_tokens: Field required");
    for (tcall_json t = tcall_json_first(tools); t.tok; t = tcall_json_next(t))
        read_tool(a, t, "input_schema");
    a->none = is(tcall_json_get(choice, "type"), "none");
    a->must = is(tcall_json_get(choice, "type"), "any");
    if (is(tcall_json_get(choice, "type"), "tool"))
        keep_tool(a, tcall_json_get(choice, "name"));
    a->single = tcall_json_bool(
        tcall_json_get(choice, "disable_parallel_tool_use"), false);
    for (tcall_json m = tcall_json_first(messages); m.tok;
         m = tcall_json_next(m)) {
        tcall_json role = tcall_json_get(m, "role");
        tcall_json content = tcall_json_get(m, "content");
        if (tcall_json_type(content) == TCALL_STRING && is(role, "user"))
            user_said(a, tcall_json_str(content));
        if (tcall_json_type(content) == TCALL_ARRAY)
            for (tcall_json b = tcall_json_first(content); b.tok;
                 b = tcall_json_next(b))
                read_anthropic_block(a, role, b);
    }
}

static void read_ask(ask *a, tcall_json root)
{
    tcall_json messages = tcall_json_get(root, "messages");

    a->model = tcall_json_string(tcall_json_get(root, "model"), NULL);
    a->stream =
        tcall_json_bool(tcall_json_get(root, "stream"), a->format == OLLAMA);
    if (!a->model)
        fault(a, "model: Field required");
    if (tcall_json_type(messages) != TCALL_ARRAY || !tcall_json_count(messages))
        fault(a, "messages: must be an array that is not empty");
    if (a->format == ANTHROPIC)
        read_anthropic(a, root);
    else
        read_openai(a, root);
    if (a->call_count != a->result_count)
        fault(a, "tool calls must be followed by a result for each of them");
    if (a->must && !a->tool_count)
        fault(a, "tool_choice demands a tool, but there are none");
}

/* --------------------------------------------------------------------------
 * What is answered
 */

typedef struct reply_call {
    char id[32];
    const char *name;
    char arguments[4096];
} reply_call;

typedef struct reply {
    char id[32];
    long created;
    char text[MAX_ANSWER];
    reply_call calls[GUESS_CALLS];
    int call_count;
    long input_tokens, output_tokens;
} reply;

static void make_id(char *out, size_t cap, const char *prefix)
{
    size_t n = strlen(prefix);

    snprintf(out, cap, "%s", prefix);
    for (int i = 0; i < 12 && n + 1 < cap; i++)
        out[n++] = "abcdefghijklmnopqrstuvwxyz0123456789"[rand() % 36];
    out[n] = '\0';
}

static void say_member(tcall_writer *w, tcall_json v)
{
    if (tcall_json_type(v) >= TCALL_ARRAY)
        tcall_write_json(w, v);
    else
        tcall_write_bytes(w, tcall_json_str(v).ptr, tcall_json_str(v).len);
}

/* An error in words, or the members of an object; anything else as it is. */
static void say_result(tcall_writer *w, tcall_str text)
{
    static char copy[MAX_RESULT_TEXT + 1];
    static tcall_tok tok[256];
    tcall_json v, error, more;

    if (text.len > MAX_RESULT_TEXT)
        text.len = MAX_RESULT_TEXT;
    while (text.len && ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80)
        text.len--; /* never half a character */
    memcpy(copy, text.ptr, text.len);
    if (tcall_json_parse(&v, copy, text.len, tok, TCALL_ARRAY_LEN(tok), NULL) < 0 ||
        tcall_json_type(v) != TCALL_OBJECT) {
        tcall_write_bytes(w, text.ptr, text.len);
        return;
    }
    error = tcall_json_get(v, "error");
    more = tcall_json_get(v, "errors");
    if (error.tok) {
        say_member(w, error);
        if (more.tok) {
            tcall_write_text(w, ": ");
            say_member(w, more);
        }
        return;
    }
    for (tcall_json m = tcall_json_first(v); m.tok; m = tcall_json_next(m)) {
        tcall_write_bytes(w, tcall_json_key(m).ptr, tcall_json_key(m).len);
        tcall_write_text(w, " ");
        say_member(w, m);
        if (tcall_json_next(m).tok)
            tcall_write_text(w, ", ");
    }
}

static bool tells_error(const result *r)
{
    static const char *const marks[] = {"{\"success\":false", "{\"error\""};

    for (size_t i = 0; i < TCALL_ARRAY_LEN(marks); i++)
        if (r->text.len > strlen(marks[i]) &&
            memcmp(r->text.ptr, marks[i], strlen(marks[i])) == 0)
            return true;
    return r->error;
}

static void say_results(const ask *a, tcall_writer *w)
{
    for (int i = 0; i < a->call_count; i++) {
        const result *r = &a->results[i];
        tcall_write_text(w, i ? "\nThe tool " : " The tool ");
        tcall_write_bytes(w, r->name.ptr, r->name.len);
        tcall_write_text(w,
                         tells_error(r) ? " could not do it: " : " answered: ");
        say_result(w, r->text);
    }
}

static void say_tools(const ask *a, const guess *g, tcall_writer *w)
{
    if (g->lonely >= 0) {
        tcall_write_text(w, " To call the tool ");
        tcall_write_text(w, a->tools[g->lonely].name);
        tcall_write_text(w, " I need a value for \"");
        tcall_write_text(w, g->missing);
        tcall_write_text(w, "\".");
        return;
    }
    if (a->none || !a->tool_count) {
        tcall_write_text(w, " There is no tool that I may use.");
        return;
    }
    tcall_write_text(w, " I found no tool that fits. There are:");
    for (int i = 0; i < a->tool_count; i++) {
        const char *about = a->tools[i].description;
        tcall_write_text(w, "\n- ");
        tcall_write_text(w, a->tools[i].name);
        tcall_write_text(w, ": ");
        tcall_write_bytes(w, about, strcspn(about, ".\n"));
    }
}

static void reply_call_add(reply *r, const guess *g, const guess_call *call,
                           format f)
{
    reply_call *c = &r->calls[r->call_count++];
    tcall_writer w;

    make_id(c->id, sizeof c->id, f == ANTHROPIC ? "toolu_" : "call_");
    c->name = g->tools[call->tool].name;
    tcall_writer_init(&w, c->arguments, sizeof c->arguments - 1);
    guess_write_arguments(g, call, &w);
    c->arguments[w.error ? 0 : w.len] = '\0';
}

/* The plan depends on the user's words alone. Calls that are there already
 * are the first part of it, whatever came of them: so it always ends. */
static void decide(const ask *a, reply *r)
{
    static guess g;
    tcall_writer w;
    int made = a->call_count;

    r->created = (long)time(NULL);
    r->call_count = 0;
    make_id(r->id, sizeof r->id, a->format == ANTHROPIC ? "msg_" : "chatcmpl-");
    g.tools = a->tools;
    g.tool_count = a->none ? 0 : a->tool_count;
    guess_plan(&g, a->text, a->must);
    for (int i = made; i < g.call_count && (i == made || !a->single); i++)
        reply_call_add(r, &g, &g.calls[i], a->format);

    tcall_writer_init(&w, r->text, sizeof r->text - 1);
    if (!r->call_count) {
        tcall_write_text(&w, "I am the stand-in model, no real language "
                             "model.");
        if (a->call_count)
            say_results(a, &w);
        else
            say_tools(a, &g, &w);
    }
    r->text[w.fill] = '\0';
    r->output_tokens = (long)(w.fill / 4) + 10 * r->call_count;
}

/* The next few bytes of a text, whole characters only. */
static tcall_str next_piece(const char **p)
{
    tcall_str s = {*p, strlen(*p)};

    if (s.len > PIECE)
        s.len = PIECE;
    while (s.len && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80)
        s.len++;
    *p += s.len;
    return s;
}

/* --------------------------------------------------------------------------
 * The answer in each format
 */

static void pair(tcall_writer *w, const char *key, const char *text)
{
    tcall_write_key(w, key);
    tcall_write_string(w, text);
}

static void number(tcall_writer *w, const char *key, long value)
{
    tcall_write_key(w, key);
    tcall_write_int(w, value);
}

static void null(tcall_writer *w, const char *key)
{
    tcall_write_key(w, key);
    tcall_write_null(w);
}

/* An object as the value of a key. */
static void open_at(tcall_writer *w, const char *key, char bracket)
{
    tcall_write_key(w, key);
    tcall_write_open(w, bracket);
}

/* ---- OpenAI: /v1/chat/completions ---- */

static void openai_head(tcall_writer *w, const ask *a, const reply *r,
                        const char *object)
{
    pair(w, "id", r->id);
    pair(w, "object", object);
    number(w, "created", r->created);
    pair(w, "model", a->model);
}

static void openai_usage(tcall_writer *w, const reply *r)
{
    open_at(w, "usage", '{');
    number(w, "prompt_tokens", r->input_tokens);
    number(w, "completion_tokens", r->output_tokens);
    number(w, "total_tokens", r->input_tokens + r->output_tokens);
    tcall_write_close(w, '}');
}

static void openai_whole(tcall_writer *w, const ask *a, const reply *r)
{
    tcall_write_open(w, '{');
    openai_head(w, a, r, "chat.completion");
    open_at(w, "choices", '[');
    tcall_write_open(w, '{');
    number(w, "index", 0);
    open_at(w, "message", '{');
    pair(w, "role", "assistant");
    if (r->call_count) {
        null(w, "content");
        open_at(w, "tool_calls", '[');
        for (int i = 0; i < r->call_count; i++) {
            tcall_write_open(w, '{');
            pair(w, "id", r->calls[i].id);
            pair(w, "type", "function");
            open_at(w, "function", '{');
            pair(w, "name", r->calls[i].name);
            pair(w, "arguments", r->calls[i].arguments);
            tcall_write_close(w, '}');
            tcall_write_close(w, '}');
        }
        tcall_write_close(w, ']');
    } else {
        pair(w, "content", r->text);
    }
    null(w, "refusal");
    tcall_write_close(w, '}');
    null(w, "logprobs");
    pair(w, "finish_reason", r->call_count ? "tool_calls" : "stop");
    tcall_write_close(w, '}');
    tcall_write_close(w, ']');
    openai_usage(w, r);
    tcall_write_close(w, '}');
}

/* One event; between begin and end the members of its delta are written. */
static void openai_begin(tcall_writer *w, const ask *a, const reply *r)
{
    tcall_write_text(w, "data: ");
    tcall_write_open(w, '{');
    openai_head(w, a, r, "chat.completion.chunk");
    open_at(w, "choices", '[');
    tcall_write_open(w, '{');
    number(w, "index", 0);
    open_at(w, "delta", '{');
}

static void openai_end(tcall_writer *w, const char *finish)
{
    tcall_write_close(w, '}');
    null(w, "logprobs");
    if (finish)
        pair(w, "finish_reason", finish);
    else
        null(w, "finish_reason");
    tcall_write_close(w, '}');
    tcall_write_close(w, ']');
    null(w, "usage");
    tcall_write_close(w, '}');
    tcall_write_text(w, "\n\n");
}

static void openai_call_event(tcall_writer *w, int index, const reply_call *c,
                              tcall_str piece)
{
    open_at(w, "tool_calls", '[');
    tcall_write_open(w, '{');
    number(w, "index", index);
    if (!piece.ptr) {
        pair(w, "id", c->id);
        pair(w, "type", "function");
    }
    open_at(w, "function", '{');
    if (!piece.ptr)
        pair(w, "name", c->name);
    tcall_write_key(w, "arguments");
    tcall_write_str(w, piece);
    tcall_write_close(w, '}');
    tcall_write_close(w, '}');
    tcall_write_close(w, ']');
}

static void openai_stream(tcall_writer *w, const ask *a, const reply *r)
{
    openai_begin(w, a, r);
    pair(w, "role", "assistant");
    pair(w, "content", "");
    openai_end(w, NULL);
    for (const char *p = r->text; *p;) {
        openai_begin(w, a, r);
        tcall_write_key(w, "content");
        tcall_write_str(w, next_piece(&p));
        openai_end(w, NULL);
    }
    for (int i = 0; i < r->call_count; i++) {
        const reply_call *c = &r->calls[i];
        openai_begin(w, a, r);
        openai_call_event(w, i, c, tcall_str_of(NULL));
        openai_end(w, NULL);
        for (const char *p = c->arguments; *p;) {
            openai_begin(w, a, r);
            openai_call_event(w, i, c, next_piece(&p));
            openai_end(w, NULL);
        }
    }
    openai_begin(w, a, r);
    openai_end(w, r->call_count ? "tool_calls" : "stop");
    tcall_write_text(w, "data: ");
    tcall_write_open(w, '{');
    openai_head(w, a, r, "chat.completion.chunk");
    open_at(w, "choices", '[');
    tcall_write_close(w, ']');
    openai_usage(w, r);
    tcall_write_close(w, '}');
    tcall_write_text(w, "\n\ndata: [DONE]\n\n");
}

/* ---- Anthropic: /v1/messages ---- */

static void anthropic_message(tcall_writer *w, const ask *a, const reply *r)
{
    pair(w, "id", r->id);
    pair(w, "type", "message");
    pair(w, "role", "assistant");
    pair(w, "model", a->model);
}

static void anthropic_stop(tcall_writer *w, const reply *r)
{
    pair(w, "stop_reason", r->call_count ? "tool_use" : "end_turn");
    null(w, "stop_sequence");
}

static void anthropic_usage(tcall_writer *w, long input, long output)
{
    open_at(w, "usage", '{');
    number(w, "input_tokens", input);
    number(w, "output_tokens", output);
    tcall_write_close(w, '}');
}

static void anthropic_whole(tcall_writer *w, const ask *a, const reply *r)
{
    tcall_write_open(w, '{');
    anthropic_message(w, a, r);
    open_at(w, "content", '[');
    if (*r->text) {
        tcall_write_open(w, '{');
        pair(w, "type", "text");
        pair(w, "text", r->text);
        tcall_write_close(w, '}');
    }
    for (int i = 0; i < r->call_count; i++) {
        tcall_write_open(w, '{');
        pair(w, "type", "tool_use");
        pair(w, "id", r->calls[i].id);
        pair(w, "name", r->calls[i].name);
        tcall_write_key(w, "input");
        tcall_write_verbatim(w, tcall_str_of(r->calls[i].arguments));
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
    anthropic_stop(w, r);
    anthropic_usage(w, r->input_tokens, r->output_tokens);
    tcall_write_close(w, '}');
}

static void anthropic_begin(tcall_writer *w, const char *type)
{
    tcall_write_text(w, "event: ");
    tcall_write_text(w, type);
    tcall_write_text(w, "\ndata: ");
    tcall_write_open(w, '{');
    pair(w, "type", type);
}

/* The real ones pad with blanks before the last brace. */
static void anthropic_end(tcall_writer *w)
{
    tcall_write_text(w, "   ");
    tcall_write_close(w, '}');
    tcall_write_text(w, "\n\n");
}

static void anthropic_delta(tcall_writer *w, int index, const char *type,
                            const char *key, tcall_str piece)
{
    anthropic_begin(w, "content_block_delta");
    number(w, "index", index);
    open_at(w, "delta", '{');
    pair(w, "type", type);
    tcall_write_key(w, key);
    tcall_write_str(w, piece);
    tcall_write_close(w, '}');
    anthropic_end(w);
}

/* A block with its text in pieces; call is NULL for text. */
static void anthropic_block(tcall_writer *w, int index, const reply_call *call,
                            const char *text)
{
    anthropic_begin(w, "content_block_start");
    number(w, "index", index);
    open_at(w, "content_block", '{');
    pair(w, "type", call ? "tool_use" : "text");
    if (call) {
        pair(w, "id", call->id);
        pair(w, "name", call->name);
        open_at(w, "input", '{');
        tcall_write_close(w, '}');
        text = strcmp(call->arguments, "{}") == 0 ? "" : call->arguments;
    } else {
        pair(w, "text", "");
    }
    tcall_write_close(w, '}');
    anthropic_end(w);
    if (call)
        anthropic_delta(w, index, "input_json_delta", "partial_json",
                        tcall_str_of(""));
    while (*text)
        anthropic_delta(w, index, call ? "input_json_delta" : "text_delta",
                        call ? "partial_json" : "text", next_piece(&text));
    anthropic_begin(w, "content_block_stop");
    number(w, "index", index);
    anthropic_end(w);
}

static void anthropic_stream(tcall_writer *w, const ask *a, const reply *r)
{
    int index = 0;

    anthropic_begin(w, "message_start");
    open_at(w, "message", '{');
    anthropic_message(w, a, r);
    open_at(w, "content", '[');
    tcall_write_close(w, ']');
    null(w, "stop_reason");
    null(w, "stop_sequence");
    anthropic_usage(w, r->input_tokens, 1);
    tcall_write_close(w, '}');
    anthropic_end(w);
    anthropic_begin(w, "ping");
    anthropic_end(w);
    if (*r->text)
        anthropic_block(w, index++, NULL, r->text);
    for (int i = 0; i < r->call_count; i++)
        anthropic_block(w, index++, &r->calls[i], NULL);
    anthropic_begin(w, "message_delta");
    open_at(w, "delta", '{');
    anthropic_stop(w, r);
    tcall_write_close(w, '}');
    open_at(w, "usage", '{');
    number(w, "output_tokens", r->output_tokens);
    tcall_write_close(w, '}');
    anthropic_end(w);
    anthropic_begin(w, "message_stop");
    anthropic_end(w);
}

/* ---- Ollama: /api/chat ---- */

static void ollama_head(tcall_writer *w, const ask *a, const reply *r)
{
    char when[40];
    time_t t = (time_t)r->created;

    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000000Z", gmtime(&t));
    tcall_write_open(w, '{');
    pair(w, "model", a->model);
    pair(w, "created_at", when);
    open_at(w, "message", '{');
    pair(w, "role", "assistant");
}

static void ollama_calls(tcall_writer *w, const reply *r, int from, int to)
{
    open_at(w, "tool_calls", '[');
    for (int i = from; i < to; i++) {
        tcall_write_open(w, '{');
        pair(w, "id", r->calls[i].id);
        open_at(w, "function", '{');
        number(w, "index", i);
        pair(w, "name", r->calls[i].name);
        tcall_write_key(w, "arguments");
        tcall_write_verbatim(w, tcall_str_of(r->calls[i].arguments));
        tcall_write_close(w, '}');
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Closes the message, and the line. */
static void ollama_end(tcall_writer *w, const reply *r, bool done)
{
    tcall_write_close(w, '}');
    tcall_write_key(w, "done");
    tcall_write_bool(w, done);
    if (done) {
        pair(w, "done_reason", "stop");
        number(w, "total_duration", 1000000);
        number(w, "prompt_eval_count", r->input_tokens);
        number(w, "eval_count", r->output_tokens);
    }
    tcall_write_close(w, '}');
}

static void ollama_whole(tcall_writer *w, const ask *a, const reply *r)
{
    ollama_head(w, a, r);
    pair(w, "content", r->text);
    if (r->call_count)
        ollama_calls(w, r, 0, r->call_count);
    ollama_end(w, r, true);
}

/* Calls are never split: one line each. */
static void ollama_stream(tcall_writer *w, const ask *a, const reply *r)
{
    for (const char *p = r->text; *p;) {
        ollama_head(w, a, r);
        tcall_write_key(w, "content");
        tcall_write_str(w, next_piece(&p));
        ollama_end(w, r, false);
        tcall_write_text(w, "\n");
    }
    for (int i = 0; i < r->call_count; i++) {
        ollama_head(w, a, r);
        pair(w, "content", "");
        ollama_calls(w, r, i, i + 1);
        ollama_end(w, r, false);
        tcall_write_text(w, "\n");
    }
    ollama_head(w, a, r);
    pair(w, "content", "");
    ollama_end(w, r, true);
    tcall_write_text(w, "\n");
}

typedef void (*answer_fn)(tcall_writer *w, const ask *a, const reply *r);

static const struct {
    const char *path;
    format format;
    const char *stream_type;
    answer_fn whole, stream;
} doors[] = {
    {"/v1/chat/completions", OPENAI, "text/event-stream", openai_whole,
     openai_stream},
    {"/v1/messages", ANTHROPIC, "text/event-stream", anthropic_whole,
     anthropic_stream},
    {"/api/chat", OLLAMA, "application/x-ndjson", ollama_whole, ollama_stream},
};

/* --------------------------------------------------------------------------
 * HTTP
 */

typedef struct http {
    char head[MAX_HEAD + 1];
    size_t fill;     /* bytes in head, those of the body included */
    size_t head_len; /* with the empty line */
    char method[8], path[128], key[256];
    size_t length;
    bool has_length, close, expects, has_version;
} http;

static const char *option_key; /* --require */

static void header(http *h, const char *name, const char *value)
{
    if (strcasecmp(name, "content-length") == 0) {
        h->length = (size_t)strtoul(value, NULL, 10);
        h->has_length = true;
    } else if (strcasecmp(name, "connection") == 0) {
        h->close = strcasecmp(value, "close") == 0;
    } else if (strcasecmp(name, "expect") == 0) {
        h->expects = true;
    } else if (strcasecmp(name, "anthropic-version") == 0) {
        h->has_version = true;
    } else if (strcasecmp(name, "x-api-key") == 0) {
        snprintf(h->key, sizeof h->key, "%s", value);
    } else if (strcasecmp(name, "authorization") == 0) {
        snprintf(h->key, sizeof h->key, "%s",
                 value + (strncmp(value, "Bearer ", 7) == 0 ? 7 : 0));
    }
}

static bool parse_head(http *h)
{
    char *line = h->head, *next;

    h->head[h->head_len - 2] = '\0';
    next = strstr(line, "\r\n");
    if (sscanf(line, "%7s %127s HTTP/1.", h->method, h->path) != 2)
        return false;
    while (next && next[2]) {
        char *colon;
        line = next + 2;
        next = strstr(line, "\r\n");
        if (next)
            *next = '\0';
        colon = strchr(line, ':');
        if (!colon)
            return false;
        *colon = '\0';
        header(h, line, colon + 1 + strspn(colon + 1, " \t"));
    }
    return true;
}

/* Reads until the empty line; what came behind it stays in h->head. */
static bool read_head(conn *c, http *h)
{
    for (;;) {
        char *end;
        int n;
        h->head[h->fill] = '\0';
        end = strstr(h->head, "\r\n\r\n");
        if (end) {
            h->head_len = (size_t)(end + 4 - h->head);
            return true;
        }
        n = h->fill < MAX_HEAD
                ? conn_read(c, h->head + h->fill, MAX_HEAD - h->fill)
                : 0;
        if (n <= 0)
            return false;
        h->fill += (size_t)n;
    }
}

/* The whole body in memory of its own, or NULL. */
static char *read_body(conn *c, http *h)
{
    char *body = malloc(h->length + 1);
    size_t have = h->fill - h->head_len;

    if (!body)
        return NULL;
    if (have > h->length)
        have = h->length;
    memcpy(body, h->head + h->head_len, have);
    h->fill -= h->head_len + have; /* the next request, perhaps */
    memmove(h->head, h->head + h->head_len + have, h->fill);
    if (h->expects)
        conn_write_all(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    while (have < h->length) {
        int n = conn_read(c, body + have, h->length - have);
        if (n <= 0) {
            free(body);
            return NULL;
        }
        have += (size_t)n;
    }
    body[have] = '\0';
    return body;
}

static bool send_head(conn *c, int status, const char *type, long length)
{
    char text[256];
    const char *reason = status == 200   ? "OK"
                         : status == 401 ? "Unauthorized"
                         : status == 404 ? "Not Found"
                         : status == 413 ? "Content Too Large"
                                         : "Bad Request";
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
                     "X-Model: stand-in, no real language model\r\n",
                     status, reason, type);

    if (length >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "Content-Length: %ld\r\n\r\n", length);
    else
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "Transfer-Encoding: chunked\r\n\r\n");
    return conn_write_all(c, text, (size_t)n);
}

/* An error as the format words it. */
static bool send_error(conn *c, int status, const char *path, const char *text)
{
    static char body[1024];
    const char *type =
        status == 401 ? "authentication_error" : "invalid_request_error";
    tcall_writer w;

    tcall_writer_init(&w, body, sizeof body);
    tcall_write_open(&w, '{');
    if (strcmp(path, "/api/chat") == 0) {
        pair(&w, "error", text);
    } else {
        if (strcmp(path, "/v1/messages") == 0)
            pair(&w, "type", "error");
        open_at(&w, "error", '{');
        pair(&w, "type", type);
        pair(&w, "message", text);
        tcall_write_close(&w, '}');
    }
    tcall_write_close(&w, '}');
    return send_head(c, status, "application/json", (long)w.fill) &&
           conn_write_all(c, body, w.fill);
}

static bool send_answer(conn *c, size_t door, const ask *a, const reply *r)
{
    char piece[CHUNK];
    tcall_writer w;

    tcall_writer_init(&w, NULL, 0);
    doors[door].whole(&w, a, r);
    if (!send_head(c, 200,
                   a->stream ? doors[door].stream_type : "application/json",
                   a->stream ? -1 : (long)w.len))
        return false;
    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, a->stream ? conn_write_chunk : conn_write, c);
    (a->stream ? doors[door].stream : doors[door].whole)(&w, a, r);
    if (tcall_writer_flush(&w) < 0)
        return false;
    return !a->stream || conn_write_all(c, "0\r\n\r\n", 5);
}

static bool answer_json(conn *c, const http *h, size_t door, tcall_json root)
{
    static ask a;
    static reply r;

    memset(&a, 0, sizeof a);
    a.format = doors[door].format;
    if (a.format == ANTHROPIC && !h->has_version)
        fault(&a, "anthropic-version: header is required");
    read_ask(&a, root);
    if (a.fault[0])
        return send_error(c, 400, h->path, a.fault);
    r.input_tokens = (long)(h->length / 4);
    decide(&a, &r);
    return send_answer(c, door, &a, &r);
}

static bool answer(conn *c, const http *h, char *body)
{
    size_t door = 0, need = 0;
    tcall_json root;
    tcall_tok *tok;
    bool ok;
    int n;

    while (door < TCALL_ARRAY_LEN(doors) && strcmp(h->path, doors[door].path) != 0)
        door++;
    if (door == TCALL_ARRAY_LEN(doors) || strcmp(h->method, "POST") != 0)
        return send_error(c, 404, h->path, "there is nothing here");
    if (option_key && strcmp(option_key, h->key) != 0)
        return send_error(c, 401, h->path, "invalid API key");
    tok = malloc((h->length + 1) * sizeof *tok);
    n = tok ? tcall_json_parse(&root, body, h->length, tok, h->length + 1,
                               &need)
            : TCALL_E_MEMORY;
    if (n < 0) {
        char text[128];
        snprintf(text, sizeof text, "the body is not JSON: %s at byte %zu",
                 tcall_error_text(n), need);
        ok = send_error(c, 400, h->path, text);
    } else {
        ok = answer_json(c, h, door, root);
    }
    free(tok);
    return ok;
}

/* One request after the other, as long as the client likes. */
static void serve(conn *c)
{
    static http h;
    bool more = true;

    while (more && read_head(c, &h)) {
        char *body;
        h.length = 0;
        h.has_length = h.close = h.expects = h.has_version = false;
        h.key[0] = '\0';
        if (!parse_head(&h) || h.length > MAX_BODY ||
            (!h.has_length && strcmp(h.method, "POST") == 0)) {
            send_error(c, h.length > MAX_BODY ? 413 : 400, h.path,
                       "bad request: a POST needs a Content-Length up to 4 MB");
            return;
        }
        body = read_body(c, &h);
        more = body && answer(c, &h, body) && !h.close;
        free(body);
    }
}

/* --------------------------------------------------------------------------
 * main
 */

static int listen_here(int port, int *actual)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in at;
    socklen_t len = sizeof at;

    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0)
        die("no socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(fd, 16) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        die("cannot listen on 127.0.0.1: is the port in use?");
    *actual = ntohs(at.sin_port);
    return fd;
}

/* One client, in a process of its own. */
static void serve_client(int listener, tls_server *server)
{
    static conn c;
    struct timeval limit = {IDLE_SECONDS, 0};
    int fd = accept(listener, NULL, NULL), on = 1;
    pid_t pid = fd < 0 ? -1 : fork();

    if (pid == 0) {
        close(listener);
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        srand((unsigned)time(NULL) ^ (unsigned)getpid() << 8);
        if (conn_open(&c, fd, server))
            serve(&c);
        conn_close(&c);
        _exit(0);
    }
    if (fd >= 0)
        close(fd);
}

static bool input_is_over(void)
{
    char byte[64];

    return read(STDIN_FILENO, byte, sizeof byte) <= 0;
}

int main(int argc, char **argv)
{
    static tls_server server;
    const char *cert = NULL, *key = NULL;
    bool plain = false;
    int port = 0, listener;
    long seconds = 0;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool took = true;
        if (strcmp(argv[i], "--plain") == 0)
            plain = true, took = false;
        else if (strcmp(argv[i], "--port") == 0)
            port = atoi(value);
        else if (strcmp(argv[i], "--cert") == 0)
            cert = value;
        else if (strcmp(argv[i], "--key") == 0)
            key = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atol(value);
        else if (strcmp(argv[i], "--require") == 0)
            option_key = value;
        else
            die("usage: standin (--plain | --cert FILE --key FILE) [--port N] "
                "[--seconds N] [--require KEY]");
        i += took;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    if (!plain)
        tls_load(&server, cert ? cert : "", key ? key : "");
    listener = listen_here(port, &port);
    printf("%s://127.0.0.1:%d\n", plain ? "http" : "https", port);
    fflush(stdout);

    for (time_t end = time(NULL) + seconds; !seconds || time(NULL) < end;) {
        struct pollfd wait[2] = {{listener, POLLIN, 0},
                                 {STDIN_FILENO, POLLIN, 0}};
        if (poll(wait, seconds ? 1 : 2, 1000) <= 0)
            continue;
        if (!seconds && wait[1].revents && input_is_over())
            break;
        if (wait[0].revents)
            serve_client(listener, plain ? NULL : &server);
    }
    return 0;
}
