/* Wherever a turn can stall it ends at its limit or when it is cancelled, with
 * the right error, without work meanwhile, and the next turn works. What is
 * judged are sleeps, calls and a clock that the test turns. */
#define _GNU_SOURCE /* pipe2, EAI_... */
#include "driven.h"

#include "check.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { LIMIT_MS = 5000, CANCEL_MS = 2600 };

/* ---- what the server says ---- */

#define TEXT                                                          \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}"
#define CALL(id)                                             \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":" \
    "{\"name\":\"work\",\"arguments\":\"{}\"}}"
#define CALLS(calls)                                                  \
    "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"," \
    "\"content\":null,\"tool_calls\":[" calls "]},"                   \
    "\"finish_reason\":\"tool_calls\"}]}"

/* A whole answer of HTTP, with the length of its body. */
static const char *whole(char *to, const char *head, const char *body)
{
    sprintf(to, "HTTP/1.1 %s\r\nContent-Length: %u\r\n\r\n%s", head,
            (unsigned)strlen(body), body);
    return to;
}

#define OK1 "HTTP/1.1 200 OK\r\n"

/* Where an answer stops, and the server goes on to listen. */
static const struct {
    const char *name, *said;
} cuts[] = {
    {"no answer", ""},
    {"in the version", "HTTP/1"},
    {"in the status", "HTTP/1.1 20"},
    {"in the reason", "HTTP/1.1 200 O"},
    {"in an interim head", "HTTP/1.1 100 Cont"},
    {"after an interim head", "HTTP/1.1 100 Continue\r\n\r\n"},
    {"after the status line", OK1},
    {"in a header's name", OK1 "Content-Len"},
    {"after a header's name", OK1 "Content-Length:"},
    {"in a header's value", OK1 "Content-Length: 1"},
    {"between two headers", OK1 "Content-Length: 100\r\n"},
    {"at the end of the head", OK1 "Content-Length: 100\r\n\r"},
    {"before the body", OK1 "Content-Length: 100\r\n\r\n"},
    {"in the body", OK1 "Content-Length: 100\r\n\r\n{\"choices\":[{"},
    {"before the body's end", OK1 "Connection: close\r\n\r\n" TEXT},
    {"before a chunk", OK1 "Transfer-Encoding: chunked\r\n\r\n"},
    {"in a chunk's size", OK1 "Transfer-Encoding: chunked\r\n\r\n1"},
    {"in an extension", OK1 "Transfer-Encoding: chunked\r\n\r\n10;a=b"},
    {"in a chunk", OK1 "Transfer-Encoding: chunked\r\n\r\n10\r\n{\"cho"},
    {"after a chunk", OK1 "Transfer-Encoding: chunked\r\n\r\n1\r\n{"},
    {"before the last chunk",
     OK1 "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"},
    {"in a trailer",
     OK1 "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nDat"},
    {"at the very end",
     OK1 "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r"},
    {"in an error's body", "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n{\"er"},
};

/* Where else a turn can stall. */
enum {
    IN_CONNECT,
    IN_RESOLVER,
    IN_REQUEST,
    BETWEEN_TRIES,
    IN_TOOL_100,
    IN_TOOL_SILENT,
    IN_TOOL_PIPE,
    IN_TOOLS,
    IN_HOOK,
    IN_VERDICT,
    IN_HANDSHAKE, /* and the three after it */
    PLACES = IN_HANDSHAKE + 4
};

static const char *const places[] = {
    "in connect",       "in the resolver",     "in the request",
    "between tries",    "tool: in 100 ms",     "tool: it doesn't say",
    "tool: for a pipe", "two tools at a time", "in a hook",
    "for a verdict",    "before ServerHello",  "in ServerHello",
    "in a certificate", "before Finished"};

static const size_t budgets[] = {0, 20, 700, 1500};

/* ---- the agent ---- */

static struct {
    int place;
    bool works; /* nothing stalls any more */
    int calls, hooks, asked;
    int nothing[2]; /* a pipe that nobody writes to */
} world;

static int work(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    world.calls++;
    if (cx->stop < 0)
        return cx->stop;
    if (world.works)
        return tcall_write_text(out, "done");
    switch (world.place) {
    case IN_TOOL_SILENT: return TCALL_E_AGAIN;
    case IN_TOOL_PIPE:
        return tcall_wait_handle(&cx->wait, world.nothing[0], TCALL_WAIT_READ);
    case IN_TOOLS:
        if (tcall_str_eq(cx->call->id, tcall_str_of("two")))
            return tcall_wait_handle(&cx->wait, world.nothing[0],
                                     TCALL_WAIT_READ);
        /* fall through */
    default: return tcall_wait_ms(&cx->wait, 100);
    }
}

static int hold_up(tcall_ctx *cx, void *user)
{
    (void)user;
    world.hooks++;
    if (world.works || world.place != IN_HOOK)
        return TCALL_OK;
    return tcall_wait_ms(&cx->wait, 1000);
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user;
    (void)call;
    world.asked++;
    return world.works ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_LATER;
}

static tcall_tool tools[] = {
    {.name = "work",
     .description = "Works.",
     .parameters = TCALL_SCHEMA_TEXT("{\"type\":\"object\"}"),
     .run = work,
     .permissions = TCALL_READ}};
static const tcall_hook hooks[] = {
    {"hold", TCALL_WILL_ACQUIRE_QUOTA, 0, hold_up, NULL, NULL}};

static mkcert_result cert;
static peer_tls tls;
static char block[1 << 20];
static tcall tc;
static tcall_agent agent;
static tport port;
static char big[200000]; /* more than the buffers of a socket hold */

static void cancel(void)
{
    tcall_agent_cancel(&agent);
}

static bool setup(bool secure, uint32_t max_ms)
{
    tcall_desc d;
    tcall_agent_desc a;
    tport_desc p;
    char url[64];

    memset(&d, 0, sizeof d);
    memset(&a, 0, sizeof a);
    memset(&p, 0, sizeof p);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = tools;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    d.hooks = hooks;
    d.hook_count = 1;
    d.stages = &tcall_stages;
    d.approve = approve;
    tools[0].confirm = world.place == IN_VERDICT;
    snprintf(url, sizeof url, "http%s://%s:%u", secure ? "s" : "",
             world.place == IN_RESOLVER ? "peer.test" : "127.0.0.1",
             (unsigned)its.port);
    p.url = url;
    p.insecure_plain_http = true;
    p.ca_pem = cert.ca;
    a.tc = &tc;
    a.provider = &tcall_openai;
    a.model = "m";
    a.max_ms = max_ms;
    a.parallel = world.place == IN_TOOLS ? 2 : 1;
    if (tport_init(&port, &p) < 0 || tcall_init(&tc, &d) < 0)
        return false;
    a.transport = tport_transport(&port);
    return tcall_agent_init(&agent, &a) == TCALL_OK;
}

/* ---- one turn ---- */

static const char *stalls[3], *good[3];
static char answer[3][1024];

/* Prepares the server for a turn that stalls at the place; cut >= 0: there. */
static void stall_at(int cut)
{
    stalls[0] =
        cut >= 0 ? cuts[cut].said
        : world.place == BETWEEN_TRIES
            ? whole(answer[0], "503 No\r\nRetry-After: 4", "")
            : whole(answer[0], "200 OK",
                    world.place == IN_TOOLS ? CALLS(CALL("one") "," CALL("two"))
                                            : CALLS(CALL("one")));
    stalls[1] = "";
    good[1] = good[0] = whole(answer[1], "200 OK", TEXT);
    its_begin(stalls);
    its.deaf = world.place == IN_REQUEST;
    if (world.place >= IN_HANDSHAKE)
        its.budget = budgets[world.place - IN_HANDSHAKE];
}

/* The loop of somebody who has one of his own: he sleeps as he is told to. */
static int own_loop(void)
{
    int r;

    while ((r = tcall_agent_step(&agent)) == TCALL_E_AGAIN ||
           r == TCALL_E_APPROVAL) {
        struct pollfd p[TOOLCALL_MAX_HANDLES];
        const tcall_wait *w = &agent.wait;
        nfds_t i;
        for (i = 0; i < w->count; i++) {
            p[i].fd = w->handles[i].handle;
            p[i].events =
                w->handles[i].events == TCALL_WAIT_READ ? POLLIN : POLLOUT;
        }
        if (w->ms)
            (void)poll(p, w->count, w->ms > INT_MAX ? -1 : (int)w->ms);
    }
    return r;
}

static int run(bool own, tcall_str text)
{
    int r = tcall_agent_say(&agent, text);

    if (own)
        return r < 0 ? r : own_loop();
    while (r >= 0 && ((r = tcall_agent_step(&agent)) == TCALL_E_AGAIN ||
                      r == TCALL_E_APPROVAL)) {
        tcall_agent_wait(&agent);
        r = 0;
    }
    return r;
}

/* How the stalled turn ends. */
enum { LIMIT, SIGNAL, INTERRUPT, ENDS };

static const char *const ends[] = {"limit", "signal", "interrupt"};

static int worst_sleeps;
static uint32_t worst_late;

static void one(const char *name, int cut, bool secure, bool own, int end)
{
    bool slow_name = world.place == IN_RESOLVER && cut < 0;
    int before = check_failed, r, go[2] = {-1, -1};
    uint32_t began = driven.ms, due, late;
    tcall_str text = tcall_str_of("go");

    world.works = false;
    world.calls = world.hooks = world.asked = 0;
    if (slow_name)
        CHECK(__real_pipe2(go, O_CLOEXEC) == 0);
    driven.unresolved = go[0];
    stall_at(cut);
    its_fill_queue(world.place == IN_CONNECT && cut < 0);
    if (world.place == IN_REQUEST && cut < 0)
        text.ptr = big, text.len = sizeof big;
    CHECK(setup(secure, LIMIT_MS));
    driven.patience = 1;
    driven.sleeps = driven.wakes = driven.forever = 0;
    driven.then = end == LIMIT ? 0 : began + CANCEL_MS;
    driven.wakes_up = end == SIGNAL;
    driven.alarm = cancel;
    r = run(own, text);
    due = end == LIMIT ? LIMIT_MS : CANCEL_MS;
    late = driven.ms - began - due;
    CHECK(r == (end == LIMIT ? TCALL_E_TIMEOUT : TCALL_E_CANCELLED));
    CHECK(late <= (own && end == INTERRUPT ? LIMIT_MS : TCALL_WAIT_MOST_MS));
    CHECK(driven.forever == 0);
    /* It has come to the place. */
    CHECK(cut < 0 || (its.requests == 1 && its.said == its.len));
    CHECK(cut >= 0 || world.place < IN_TOOL_100 || world.place > IN_TOOLS ||
          world.calls > 1 + (world.place == IN_TOOLS));
    CHECK(cut >= 0 || world.place != IN_HOOK || world.hooks > 1);
    CHECK(cut >= 0 || world.place != IN_VERDICT || world.asked > 0);
    if (world.place == IN_TOOL_SILENT && cut < 0)
        CHECK(driven.sleeps <= LIMIT_MS / TCALL_WAIT_POLL_MS);
    else if (cut < 0 && (world.place == IN_TOOL_100 || world.place == IN_TOOLS))
        CHECK(driven.sleeps <= LIMIT_MS / 100);
    else
        CHECK(driven.sleeps <= 20);
    if (cut < 0 && world.place == IN_TOOL_100)
        CHECK(world.calls <= LIMIT_MS / 100 + 1);
    if (!own && late > worst_late)
        worst_late = late;
    if (driven.sleeps > worst_sleeps && world.place < IN_TOOL_100)
        worst_sleeps = driven.sleeps;
    /* The next turn works. */
    world.works = true;
    if (slow_name)
        CHECK(write(go[1], "1", 1) == 1);
    driven.unresolved = -1;
    driven.then = 0;
    driven.patience = 2000;
    its_fill_queue(false);
    its_begin(good);
    if (cut < 0 && world.place >= IN_TOOL_100 && world.place <= IN_VERDICT) {
        good[0] = stalls[0];
        its_begin(good);
    }
    CHECK(run(own, tcall_str_of("on")) == TCALL_OK);
    CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Done.")));
    tport_free(&port);
    its_begin(good);
    if (slow_name) {
        close(go[0]);
        close(go[1]);
    }
    if (check_failed != before)
        printf("  %s, %s, %s, %s: %s, %d sleeps, %d wakes, %u ms, %d calls\n",
               name, secure ? "TLS" : "plain", own ? "own loop" : "run",
               ends[end], tcall_error_code(r), driven.sleeps, driven.wakes,
               (unsigned)(driven.ms - began), world.calls);
}

static void all_ways(const char *name, int cut)
{
    int secure, own, end;

    for (secure = 0; secure < 2; secure++)
        for (own = 0; own < 2; own++)
            for (end = 0; end < ENDS; end++)
                if ((secure || cut >= 0 || world.place < IN_HANDSHAKE) &&
                    !(secure && world.place == IN_RESOLVER && cut < 0)) {
                    its.tls = secure ? &tls : NULL;
                    one(name, cut, secure, own, end);
                }
}

/* ---- the blocking face ---- */

/* Its own limit ends it; nobody can cancel it. */
static void blocking(int cut, bool secure)
{
    tport_desc d;
    heard x;
    uint32_t began = driven.ms;
    int before = check_failed;
    peer p;

    memset(&d, 0, sizeof d);
    memset(&x, 0, sizeof x);
    p.port = its.port;
    stalls[0] = cuts[cut].said;
    its.tls = secure ? &tls : NULL;
    its_begin(stalls);
    d.total_ms = LIMIT_MS;
    d.ca_pem = cert.ca;
    CHECK(peer_port(&port, p, secure, d) == 0);
    driven.patience = 1;
    driven.sleeps = driven.forever = 0;
    peer_ask(tport_blocking(&port), &x);
    CHECK(x.error == TCALL_E_TIMEOUT && driven.ms - began == LIMIT_MS);
    CHECK(driven.sleeps == 1 && driven.forever == 0);
    tport_free(&port);
    if (check_failed != before)
        printf("  %s: %s after %u ms, %d sleeps\n", cuts[cut].name,
               tcall_error_code(x.error), (unsigned)(driven.ms - began),
               driven.sleeps);
}

/* ---- many exchanges ---- */

static int descriptors(void)
{
    int fd, count = 0;

    for (fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Bytes of the heap that are in use. */
static size_t heap(void)
{
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static void many_turns(bool secure, int turns)
{
    static const char *answers[2];
    int i, sockets = 0;
    size_t peak = 0, memory = 0;

    world.works = true;
    world.place = -1;
    its.tls = secure ? &tls : NULL;
    answers[0] = whole(answer[0], "200 OK", TEXT);
    its_begin(answers);
    CHECK(setup(secure, 0));
    driven.patience = 2000;
    for (i = 0; i < turns; i++) {
        its.requests = 0;
        if (i % 10 == 0) /* a new connection */
            tport_http_drop(&port.http);
        if (tcall_agent_run(&agent, tcall_str_of("on")) != TCALL_OK)
            break;
        agent.desc.tc->block.low = agent.chat.start; /* a new conversation */
        if (i == 29) {
            sockets = descriptors();
            peak = tcall_peak(&tc);
            memory = heap();
        }
    }
    CHECK(i == turns);
    CHECK(descriptors() == sockets && tcall_peak(&tc) == peak);
    /* Numbers and tickets differ in length by a few bytes. */
    CHECK(heap() < memory + 2048);
    tport_free(&port);
}

int main(void)
{
    static const mkcert_request q = {"localhost", "20200101000000",
                                     "20491231235959"};
    size_t i;
    int secure;

    signal(SIGPIPE, SIG_IGN);
    alarm(300);
    memset(big, 'x', sizeof big);
    memset(its.other, -1, sizeof its.other);
    driven.unresolved = its.fd = -1;
    CHECK(mkcert_begin() == 0 && mkcert(&cert, &q) == 0);
    CHECK(peer_init(&tls, &cert) == 0);
    CHECK(__real_pipe2(world.nothing, O_CLOEXEC) == 0);
    its.listener = peer_listen(&its.port);
    fcntl(its.listener, F_SETFL, O_NONBLOCK);
    world.place = -1;
    for (i = 0; i < sizeof cuts / sizeof *cuts; i++)
        all_ways(cuts[i].name, (int)i);
    for (world.place = 0; world.place < PLACES; world.place++)
        all_ways(places[world.place], -1);
    world.place = -1;
    for (i = 0; i < sizeof cuts / sizeof *cuts; i++)
        for (secure = 0; secure < 2; secure++)
            blocking((int)i, secure);
    driven.inherited = 0;
    many_turns(false, 9000);
    many_turns(true, 1000);
    CHECK(driven.inherited == 0);
    printf("test_port_wait: %u places; at most %d sleeps in 5 s, %u ms late\n",
           (unsigned)(sizeof cuts / sizeof *cuts) + PLACES, worst_sleeps,
           (unsigned)worst_late);
    return check_sum("test_port_wait");
}
