/* All of port/, and the agent over it, against a forked server on 127.0.0.1. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_visit.h"
#include "timed.h"

#include <fcntl.h>

static void test_loopback_tls(void)
{
    static const visit v[] = {
        {OK1 "Content-Length: 5\r\n\r\nhello", SERVE_TWO},
        {CHUNKED "5\r\nhello\r\n0\r\n\r\n", NOTIFY},
        {OK1 "\r\nhello", NOTIFY},
        {OK1 "\r\nhello", FIN},
        {OK1 "Content-Length: 50\r\n\r\nhello", FIN},
        {OK1 "Content-Length: 50\r\n\r\nhello", NOTIFY},
        {OK1 "Content-Length: 50\r\n\r\nhello", RESET},
        {OK1 "Content-Length: 5\r\n\r\nhello", FIN},
        {"", STALL},
        {OK1 "Content-Length: 50\r\n\r\nhello", STALL},
    };
    static result x;
    uint16_t number;
    tport_desc d = {0};
    uint32_t began;
    pid_t pid = start_server(&local, v, COUNT_OF(v), &number);

    about = "loopback, TLS";
    d.ca_pem = local.ca;
    d.total_ms = 1000 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), 0); /* 1st connection */
    CHECK_INT((long)x.len, 5);
    CHECK_INT(go(&port, &x), 0); /* the same */
    CHECK_INT((long)x.len, 5);
    poll(NULL, 0, 20);
    CHECK_INT(go(&port, &x), 0); /* a new one: the other was ended */
    CHECK(x.len == 5 && x.res.status == 200);
    CHECK_INT(go(&port, &x), 0);
    CHECK(x.len == 5 && memcmp(x.body, "hello", 5) == 0);
    about = "FIN without close_notify, no length";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "FIN mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "close_notify mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "RST mid-body";
    CHECK_INT(go(&port, &x), TCALL_E_CLOSED);
    about = "FIN after a framed body";
    CHECK_INT(go(&port, &x), 0);
    tport_free(&port);
    about = "stall before the answer";
    d.total_ms = 200 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    began = tport_posix_now_ms();
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK(in_time((long)(tport_posix_now_ms() - began), (long)d.total_ms - 10,
                  3000L * slow));
    tport_free(&port);
    about = "stall mid-body";
    d.total_ms = 2000 * slow;
    d.idle_ms = 150 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK_INT((long)x.len, 5);
    tport_free(&port);
    stop_server(pid);
}

static void test_loopback_refusals(void)
{
    static const visit v[3] = {{A1, NOTIFY}, {A1, NOTIFY}, {A1, NOTIFY}};
    static result x;
    uint16_t number;
    tport_desc d = {0};
    pid_t pid = start_server(&elsewhere, v, 3, &number);

    about = "loopback, wrong name";
    d.ca_pem = elsewhere.ca;
    d.total_ms = 3000 * slow;
    CHECK_INT(init_port("https", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_WRONG_HOST);
    CHECK(strstr(tport_error(&port), "certificate of localhost"));
    CHECK_INT(x.res.status, 0);
    tport_free(&port);
    stop_server(pid);

    about = "loopback, unknown CA";
    pid = start_server(&local, v, 3, &number);
    d.ca_pem = elsewhere.ca;
    CHECK_INT(init_port("https", "127.0.0.1", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_CERTIFICATE);
    tport_free(&port);
    about = "loopback, the system's CAs";
    d.ca_pem = NULL;
    if (init_port("https", "localhost", number, &d) == 0)
        CHECK_INT(go(&port, &x), TCALL_E_CERTIFICATE);
    else /* a machine without any */
        CHECK(strstr(tport_error(&port), "no CA certificate"));
    tport_free(&port);
    stop_server(pid);
}

/* ---- the agent over all of it ---- */

#define CALL_ANSWER                                                    \
    CHUNKED "bd\r\n{\"choices\":[{\"index\":0,\"message\":{"           \
            "\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" \
            "{\"id\":\"c\",\"type\":\"function\",\"function\":{"       \
            "\"name\":\"blink\",\"arguments\":\"{}\"}}]},"             \
            "\"finish_reason\":\"tool_calls\"}]}\r\n0\r\n\r\n"
#define TEXT_ANSWER                                          \
    CHUNKED "61\r\n{\"choices\":[{\"index\":0,\"message\":{" \
            "\"role\":\"assistant\",\"content\":\"Done.\"}," \
            "\"finish_reason\":\"stop\"}]}\r\n0\r\n\r\n"

static int blinks;

static int blink(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    blinks++;
    return tcall_write_text(out, "done");
}

static void watch(void *user, const tcall_event *e)
{
    int *retries = user;

    *retries += e->kind == TCALL_EVENT_RETRY;
    CHECK(e->text.len < 6 || !strstr(tport_error(&port), "canary"));
}

/* A turn of two rounds over TLS; the number of requests sent again. */
static int turn(const tport_desc *d, uint16_t number, int *error)
{
    static char block[16384];
    static tcall_tool tool;
    static int retries;
    tport_desc pd = *d;
    tcall tc;
    tcall_agent agent;
    tcall_desc td;
    tcall_agent_desc ad;

    memset(&td, 0, sizeof td);
    memset(&ad, 0, sizeof ad);
    tool.name = "blink";
    tool.parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tool.run = blink;
    tool.permissions = TCALL_READ;
    td.block = block;
    td.lenient = &tcall_lenient;
    td.block_size = sizeof block;
    td.tools = &tool;
    td.tool_count = 1;
    td.allow = TCALL_READ;
    td.on_event = watch;
    td.events = &tcall_events;
    td.user = &retries;
    CHECK_INT(init_port("https", "localhost", number, &pd), 0);
    ad.tc = &tc;
    ad.provider = &tcall_openai;
    ad.transport = tport_transport(&port);
    ad.model = "m";
    ad.key = "sk-canary";
    ad.max_wait_ms = 50;
    blinks = retries = 0;
    CHECK_INT(tcall_init(&tc, &td), 0);
    CHECK_INT(tcall_agent_init(&agent, &ad), 0);
    *error = tcall_agent_run(&agent, tcall_str_of("blink"));
    if (*error == 0)
        CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Done.")));
    tport_free(&port);
    return retries;
}

static void test_agent(void)
{
    static const visit one[] = {{CALL_ANSWER "\f" TEXT_ANSWER, SERVE_TWO}};
    static const visit faults[] = {
        {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n",
         NOTIFY},
        {"", RESET},
        {CALL_ANSWER, FIN}, /* the kept connection is dead when it is used */
        {"", RESET},
        {TEXT_ANSWER, NOTIFY},
    };
    static const visit mute[] = {{"", STALL}, {"", STALL}, {"", STALL}};
    uint16_t number;
    tport_desc d = {0};
    int error = 0;
    pid_t pid;

    about = "two rounds, one connection: there is no other to be had";
    d.ca_pem = local.ca;
    d.total_ms = 3000 * slow;
    pid = start_server(&local, one, COUNT_OF(one), &number);
    CHECK_INT(turn(&d, number, &error), 0);
    CHECK_INT(error, 0);
    CHECK_INT(blinks, 1);
    stop_server(pid);
    about = "the tool runs once, whatever happens to the requests";
    pid = start_server(&local, faults, COUNT_OF(faults), &number);
    CHECK(turn(&d, number, &error) >= 3);
    CHECK_INT(error, 0);
    CHECK_INT(blinks, 1);
    stop_server(pid);
    about = "nothing is tried twice where the certificate is wrong";
    pid = start_server(&elsewhere, one, COUNT_OF(one), &number);
    d.ca_pem = elsewhere.ca;
    CHECK_INT(turn(&d, number, &error), 0);
    CHECK_INT(error, TCALL_E_WRONG_HOST);
    stop_server(pid);
    about = "the handshake stalls";
    pid = start_server(NULL, mute, COUNT_OF(mute), &number);
    d.total_ms = 120;
    CHECK_INT(turn(&d, number, &error), 2);
    CHECK_INT(error, TCALL_E_TIMEOUT);
    stop_server(pid);
}

/* mbedTLS in a buffer, one exchange. In a program of its own, because that is
 * for good and has to come first; its arguments are those of run_in. */
static int memory_main(char **argv)
{
    static uint64_t buffer[1 << 15];
    static result x;
    size_t size = (size_t)atol(argv[2]), peak;
    tport_desc d = {0};
    int r = tport_tls_memory(buffer, size);

    d.ca_pem = argv[4];
    if (r == 0)
        r = init_port("https", "localhost", (uint16_t)atoi(argv[3]), &d);
    if (r == 0)
        r = go(&port, &x);
    peak = tport_tls_memory_peak();
    if (r == 0) {
        printf(
            "test_port_loopback: one exchange takes %lu bytes of mbedTLS's buffer\n",
            (unsigned long)peak);
        fflush(stdout);
    }
    if (r == 0 && (peak > size || peak < 20000))
        return 254;
    tport_free(&port);
    return -r;
}

static int run_in(size_t size, uint16_t number)
{
    char bytes[20], digits[20];
    int status;
    pid_t pid;

    sprintf(bytes, "%lu", (unsigned long)size);
    sprintf(digits, "%u", (unsigned)number);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(20 * slow);
        execl("/proc/self/exe", "memory", "memory", bytes, digits, local.ca,
              (char *)NULL);
        _exit(255);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? -WEXITSTATUS(status)
               : -253;
}

/* Whatever the size, it works or says that it is too small. */
static void test_memory(void)
{
    visit v[24];
    uint16_t number;
    size_t i, size = 256 * 1024;
    int told = 0;
    pid_t pid;

    about = "mbedTLS in a buffer";
    (void)told;
    for (i = 0; i < COUNT_OF(v); i++) {
        v[i].answer = A1;
        v[i].end = NOTIFY;
    }
    pid = start_server(&local, v, COUNT_OF(v), &number);
#if defined(MBEDTLS_MEMORY_BUFFER_ALLOC_C) && defined(MBEDTLS_PLATFORM_MEMORY)
    CHECK_INT(run_in(size, number), 0);
    /* Not all of mbedTLS says why it could not go on: where a signature cannot
     * be checked it is as good as wrong. */
    for (i = 0, size = 2000; i < 12; i++, size += 3000) {
        int r = run_in(size, number);
        CHECK(r < 0);
        told += r == TCALL_E_MEMORY;
    }
    CHECK(told >= 10);
#else
    CHECK_INT(run_in(size, number), TCALL_E_USAGE);
#endif
    stop_server(pid);
}

static void test_loopback_plain(void)
{
    static const visit v[] = {
        {A1, SERVE_TWO}, {"", STALL}, {A1, NOTIFY}, {"", STALL}};
    static result x;
    uint16_t number;
    tport_desc d = {0};
    pid_t pid = start_server(NULL, v, COUNT_OF(v), &number);
    socklen_t len = sizeof(int);
    uint32_t began;
    int on = 0;

    about = "loopback, plain";
    CHECK_INT(init_port("http", "127.0.0.1", number, &d), 0);
    CHECK_INT(go(&port, &x), 0);
    CHECK_INT(go(&port, &x), 0);
    CHECK(x.len == 1 && x.res.status == 200);
    about = "the socket";
    CHECK_INT(port.stream.connect(port.stream.user), 0);
    CHECK(fcntl(port.socket.fd, F_GETFD) & FD_CLOEXEC);
    CHECK(getsockopt(port.socket.fd, IPPROTO_TCP, TCP_NODELAY, &on, &len) ==
              0 &&
          on);
    tport_free(&port);
    about = "idle limit";
    d.idle_ms = 200 * slow;
    CHECK_INT(init_port("http", "127.0.0.1", number, &d), 0);
    began = tport_posix_now_ms();
    CHECK_INT(go(&port, &x), TCALL_E_TIMEOUT);
    CHECK(in_time((long)(tport_posix_now_ms() - began), 0, 2000L * slow));
    tport_free(&port);
    about = "not blocking";
    d.idle_ms = 0;
    CHECK_INT(init_port("http", "localhost", number, &d), 0);
    {
        tcall_transport t = tport_transport(&port);
        int r, again = 0;
        memset(&x, 0, sizeof x);
        while ((r = t.open(t.user, &send4, &x.res)) == TCALL_E_AGAIN)
            poll(NULL, 0, 1);
        CHECK_INT(r, 0);
        CHECK_INT(write_all(&t, "body", 4), 0);
        while ((r = t.read(t.user, x.body, 10)) == TCALL_E_AGAIN &&
               ++again < 4000)
            poll(NULL, 0, 1);
        CHECK_INT(r, 1);
        t.close(t.user);
        while ((r = t.open(t.user, &send4, &x.res)) == TCALL_E_AGAIN)
            poll(NULL, 0, 1);
        CHECK_INT(write_all(&t, "body", 4), 0);
        for (again = 0; again < 5; again++)
            CHECK_INT(t.read(t.user, x.body, 10), TCALL_E_AGAIN);
        t.close(t.user);
        CHECK(in_time((long)(tport_posix_now_ms() - t.now_ms(t.user)), 0, 5));
    }
    tport_free(&port);
    stop_server(pid);

    about = "nobody listens";
    CHECK_INT(init_port("http", "localhost", number, &d), 0);
    CHECK_INT(go(&port, &x), TCALL_E_CONNECT);
    CHECK(strstr(tport_error(&port), "localhost: "));
    tport_free(&port);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "memory") == 0)
        return memory_main(argv);
    begin();
    test_loopback_tls();
    test_loopback_refusals();
    test_loopback_plain();
    test_agent();
    test_memory();
    return check_sum("test_port_loopback");
}
