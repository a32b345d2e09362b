/* Where a request goes: below a base URL, and after a redirect. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_script.h"

#define STATUS(n) "HTTP/1.1 " #n " Moved\r\n"
#define TO(n, where) \
    STATUS(n) "Location: " where "\r\nContent-Length: 0\r\n\r\n"
#define TEN     "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONGER  HUNDRED HUNDRED HUNDRED

/* Is the line the first one of the last request that was sent? */
static bool asked(script *s, const char *line)
{
    const char *last = s->out, *next;

    s->out[s->out_len] = '\0';
    while ((next = strstr(last + 1, "POST ")) != NULL)
        last = next;
    return strncmp(last, line, strlen(line)) == 0;
}

static void test_base(void)
{
    static const struct {
        const char *base, *path, *line;
    } rows[] = {
        {"", "/v1/chat", "POST /v1/chat "},
        {"/v1", "/v1/chat", "POST /v1/chat "},
        {"/openai/v1", "/v1/chat", "POST /openai/v1/chat "},
        {"/openai/v1", "/openai/v1/chat", "POST /openai/v1/chat "},
        {"/v1/chat", "/v1/chat", "POST /v1/chat "},
        {"/v1/chat", "/v1/chat?a=b", "POST /v1/chat?a=b "},
        {"/v1beta", "/v1beta/models/m:go", "POST /v1beta/models/m:go "},
        {"/v1", "/v1beta/models", "POST /v1/v1beta/models "},
        {"/v1", "/v12", "POST /v1/v12 "},
        {"/xv1", "/v1/chat", "POST /xv1/v1/chat "},
        {"/v1/x", "/v1/chat", "POST /v1/x/v1/chat "},
        {"/proxy", "/v1/chat", "POST /proxy/v1/chat "},
    };
    static const peer p = {{B1}, 0, 0, 0, false};
    size_t i;

    for (i = 0; i < COUNT_OF(rows); i++) {
        tcall_request q = post;
        static script s;
        static result x;
        tport_http h;
        about = rows[i].line;
        q.path = rows[i].path;
        memset(&s, 0, sizeof s);
        s.peers = &p;
        tport_http_init(&h, script_stream(&s), "host", rows[i].base);
        exchange(tport_http_transport(&h), &q, "body", 100, &x);
        tport_http_drop(&h);
        CHECK_INT(x.error, 0);
        CHECK(asked(&s, rows[i].line));
    }
}

/* What one redirect does: the line of the request that follows it, or the
 * error and what tport_http_why says. */
typedef struct row {
    const char *answer, *line;
    int error;
    const char *why;
} row;

#define NO TCALL_E_NOT_FOUND

static const row secure[] = {
    {TO(307, "/y"), "POST /y ", 0, NULL},
    {TO(308, "/y/z?a=b"), "POST /y/z?a=b ", 0, NULL},
    {TO(308, "https://api.test/y"), "POST /y ", 0, NULL},
    {TO(308, "HTTPS://API.test/y"), "POST /y ", 0, NULL},
    {TO(308, "https://api.test:443/y"), "POST /y ", 0, NULL},
    {TO(308, "//api.test/y"), "POST /y ", 0, NULL},
    {TO(307, "https://api.test"), "POST / ", 0, NULL},
    {TO(307, "https://api.test?a"), "POST /?a ", 0, NULL},
    {TO(307, "/y#part"), "POST /y ", 0, NULL},
    {TO(307, "https://other.test/y"), NULL, NO, "https://other.test/y"},
    {TO(307, "http://api.test/y"), NULL, NO, "http://api.test/y"},
    {TO(307, "https://api.test:8443/y"), NULL, NO, "api.test:8443"},
    {TO(307, "https://api.test.evil.test/y"), NULL, NO, "evil.test"},
    {TO(307, "https://api.test@evil.test/y"), NULL, NO, "evil.test"},
    {TO(307, "https://evil.test/https://api.test/"), NULL, NO, "evil.test"},
    {TO(307, "https:/y"), NULL, NO, "https:/y"},
    {TO(307, "y"), NULL, NO, "followed: y"},
    {TO(307, "/y z"), NULL, NO, "followed: /y z"},
    {TO(307, ""), NULL, NO, "nowhere"},
    {TO(307, "/" LONGER), NULL, NO, "too long"},
    {TO(307, "//" HUNDRED HUNDRED TEN TEN TEN TEN), NULL, NO, "//" TEN},
};

static const row plain[] = {
    {TO(307, "http://api.test/y"), "POST /y ", 0, NULL},
    {TO(307, "http://api.test:80/y"), "POST /y ", 0, NULL},
    {TO(307, "https://api.test/y"), NULL, NO, "https://api.test/y"},
};

static void one_redirect(const row *r, bool is_plain, const char *authority)
{
    const peer peers[] = {{{r->answer}, 0, 0, 0, false},
                          {{B1}, 0, 0, 0, false}};
    static script s;
    static result x;
    tport_http h;
    tcall_transport t;

    about = r->answer;
    memset(&s, 0, sizeof s);
    s.peers = peers;
    tport_http_init(&h, script_stream(&s), authority, "/base");
    h.plain = is_plain;
    t = tport_http_transport(&h);
    exchange(t, &post, "body", 100, &x);
    CHECK_INT(x.error, r->error ? r->error : TCALL_E_CLOSED);
    if (r->error) {
        CHECK(strstr(tport_http_why(&h), r->why) != NULL);
        CHECK_INT(s.connects, 1);
    } else {
        /* "open the same request again" */
        CHECK_INT(x.res.status, 0);
        CHECK_INT(x.res.retry_after_ms, 0);
        exchange(t, &post, "body", 100, &x);
        CHECK_INT(x.error, 0);
        CHECK_INT(x.res.status, 200);
        CHECK(asked(&s, r->line));
    }
    tport_http_drop(&h);
    CHECK_INT(s.misuses, 0);
}

static void test_one(void)
{
    size_t i;

    for (i = 0; i < COUNT_OF(secure); i++) {
        one_redirect(&secure[i], false, "api.test");
        one_redirect(&secure[i], false, "api.test:443");
    }
    for (i = 0; i < COUNT_OF(plain); i++)
        one_redirect(&plain[i], true, "api.test");
}

/* The nth exchange of one client, and the line that it sent. */
static void go(tport_http *h, script *s, const char *path, int error,
               const char *line)
{
    static result x;
    tcall_request q = post;

    q.path = path;
    exchange(tport_http_transport(h), &q, "body", 100, &x);
    CHECK_INT(x.error, error);
    CHECK(asked(s, line));
}

/* 307 is for one request, 308 for all that go to that path, none for others. */
static void test_memory(void)
{
    static const peer peers[] = {
        {{TO(307, "/a")}, 0, 0, 0, false},
        {{A1}, 0, 0, 0, false},
        {{TO(308, "/b")}, 0, 0, 0, false},
        {{A1}, 0, 0, 0, false},
        {{A1}, 0, 0, 0, false},
        {{A1}, 0, 0, 0, false},
        {{A1}, 0, 0, 0, false},
    };
    static script s;
    tport_http h;

    about = "what is remembered";
    memset(&s, 0, sizeof s);
    s.peers = peers;
    tport_http_init(&h, script_stream(&s), "api.test", "/base");
    go(&h, &s, "/x", TCALL_E_CLOSED, "POST /base/x ");
    go(&h, &s, "/x", 0, "POST /a ");
    go(&h, &s, "/x", TCALL_E_CLOSED, "POST /base/x ");
    go(&h, &s, "/x", 0, "POST /b ");
    go(&h, &s, "/x", 0, "POST /b ");
    go(&h, &s, "/other", 0, "POST /base/other ");
    go(&h, &s, "/x", 0, "POST /b ");
    tport_http_drop(&h);
}

/* A circle ends, and a good answer begins the count anew. */
static void test_circle(void)
{
    static peer peers[TPORT_HTTP_MAX_REDIRECTS + 1];
    static script s;
    tport_http h;
    int i;

    about = "a circle";
    for (i = 0; i <= TPORT_HTTP_MAX_REDIRECTS; i++)
        peers[i].answers[0] = TO(308, "/x");
    memset(&s, 0, sizeof s);
    s.peers = peers;
    tport_http_init(&h, script_stream(&s), "api.test", "");
    for (i = 0; i < TPORT_HTTP_MAX_REDIRECTS; i++)
        go(&h, &s, "/x", TCALL_E_CLOSED, "POST /x ");
    go(&h, &s, "/x", TCALL_E_LIMIT, "POST /x ");
    tport_http_drop(&h);
}

/* Other statuses, no Location, or somebody who keeps it: answers like any. */
static void test_not_ours(void)
{
    static const char *const answers[] = {
        STATUS(301) "Location: /y\r\nContent-Length: 0\r\n\r\n",
        STATUS(302) "Location: /y\r\nContent-Length: 0\r\n\r\n",
        STATUS(307) "Content-Length: 0\r\n\r\n",
        "HTTP/1.1 201 Made\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n",
        TO(307, "https://other.test/"),
    };
    size_t i;

    for (i = 0; i < COUNT_OF(answers); i++) {
        peer p = {{NULL}, 0, 0, 0, false};
        char value[40];
        tport_kept kept = {"location", NULL, sizeof value, 0};
        static script s;
        static result x;
        tport_http h;
        about = answers[i];
        p.answers[0] = answers[i];
        kept.value = value;
        memset(&s, 0, sizeof s);
        s.peers = &p;
        tport_http_init(&h, script_stream(&s), "api.test", "");
        h.kept = &kept;
        h.kept_count = i == COUNT_OF(answers) - 1;
        exchange(tport_http_transport(&h), &post, "body", 100, &x);
        CHECK_INT(x.error, 0);
        CHECK(x.res.status > 200);
        if (h.kept_count)
            CHECK(strcmp(value, "https://other.test/") == 0);
        tport_http_drop(&h);
    }
}

int main(void)
{
    test_base();
    test_one();
    test_memory();
    test_circle();
    test_not_ours();
    return check_sum("test_port_redirects");
}
