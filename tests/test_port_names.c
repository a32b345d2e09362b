/* Names, addresses and URLs: which of them are tried, and in what time. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "port_visit.h"
#include "timed.h"

#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/stat.h>

/* ---- names and addresses ---- */

/* A resolver of our own, which takes ms to answer. */
static const struct {
    const char *name;
    const char *addresses[4];
    int error;
    int ms;
    int repeat; /* so many of the first address */
} names[] = {
    {"plain.test", {"127.0.0.1"}, 0, 0, 1},
    {"slow.test", {"127.0.0.1"}, 0, 150, 1},
    {"refuses.test", {"127.0.0.2", "127.0.0.1"}, 0, 0, 1},
    {"six.test", {"::1", "127.0.0.1"}, 0, 0, 40},
    {"stalls.test", {"127.0.0.3", "127.0.0.1"}, 0, 0, 1},
    {"never.test", {"127.0.0.3"}, 0, 0, 1},
    {"many.test", {"127.0.0.2"}, 0, 0, 64},
    {"nobody.test", {NULL}, EAI_NONAME, 0, 0},
    {"servfail.test", {NULL}, EAI_AGAIN, 0, 0},
    {"silent.test", {NULL}, EAI_AGAIN, 4000, 0},
    {"empty.test", {NULL}, 0, 0, 0},
    {"shared.test", {"127.0.0.9"}, 0, 100, 1},
    {"number", {"127.0.0.9"}, 0, 20, 1}, /* and any digits */
    {"mute", {NULL}, EAI_AGAIN, 3000, 0},
};

/* How often it was asked, and by how many at a time. */
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int lookups_begun, lookups_now, lookups_most;

static void count_lookup(int more)
{
    pthread_mutex_lock(&count_lock);
    lookups_begun += more > 0;
    lookups_now += more;
    if (lookups_now > lookups_most)
        lookups_most = lookups_now;
    pthread_mutex_unlock(&count_lock);
}

static struct addrinfo *address(const char *text, const char *service,
                                struct addrinfo *next)
{
    struct room {
        struct addrinfo a;
        union {
            struct sockaddr s;
            struct sockaddr_in four;
            struct sockaddr_in6 six;
        } u;
    } *r = calloc(1, sizeof *r);
    bool six = strchr(text, ':') != NULL;

    if (six) {
        r->u.six.sin6_port = htons((uint16_t)atoi(service));
        inet_pton(AF_INET6, text, &r->u.six.sin6_addr);
    } else {
        r->u.four.sin_port = htons((uint16_t)atoi(service));
        inet_pton(AF_INET, text, &r->u.four.sin_addr);
    }
    r->a.ai_family = r->u.s.sa_family = six ? AF_INET6 : AF_INET;
    r->a.ai_socktype = SOCK_STREAM;
    r->a.ai_addr = &r->u.s;
    r->a.ai_addrlen = six ? sizeof r->u.six : sizeof r->u.four;
    r->a.ai_next = next;
    return &r->a;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list) {
        struct addrinfo *next = list->ai_next;
        free(list);
        list = next;
    }
}

int getaddrinfo(const char *name, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
{
    unsigned char number[16];
    size_t i, k;
    int n;

    *list = NULL;
    if (!name)
        *list = address("::1", service, address("127.0.0.1", service, NULL));
    else if (inet_pton(AF_INET, name, number) == 1 ||
             inet_pton(AF_INET6, name, number) == 1)
        *list = address(name, service, NULL);
    if (*list || (hints->ai_flags & AI_NUMERICHOST))
        return *list ? 0 : EAI_NONAME;
    for (i = 0; i < COUNT_OF(names); i++) {
        size_t len = strcspn(name, "0123456789");
        if (len != strlen(names[i].name) ||
            strncmp(name, names[i].name, len) != 0)
            continue;
        count_lookup(1);
        poll(NULL, 0, names[i].ms);
        count_lookup(-1);
        for (k = 4; k-- > 0;)
            for (n = k ? 1 : names[i].repeat; names[i].addresses[k] && n--;)
                *list = address(names[i].addresses[k], service, *list);
        return names[i].error;
    }
    return EAI_NONAME;
}

/* An address whose packets lead to nothing: its queue is full. */
static void make_stall(uint16_t number, int *fds, size_t n)
{
    struct sockaddr_in a;
    size_t i;

    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons(number);
    inet_pton(AF_INET, "127.0.0.3", &a.sin_addr);
    for (i = 0; i < n; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (i == 0) {
            CHECK(bind(fds[0], (struct sockaddr *)&a, sizeof a) == 0);
            CHECK(listen(fds[0], 0) == 0);
            continue;
        }
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        (void)!connect(fds[i], (struct sockaddr *)&a, sizeof a);
    }
}

static int open_sockets(void)
{
    struct stat s;
    int fd, n = 0;

    for (fd = 0; fd < 200; fd++)
        n += fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode);
    return n;
}

static bool are_signals_blocked(void)
{
    sigset_t now;

    return sigprocmask(SIG_SETMASK, NULL, &now) != 0 ||
           sigismember(&now, SIGTERM) == 1;
}

static bool is_allowed(void *user, const struct sockaddr *address)
{
    struct sockaddr_in a;

    (void)user;
    memcpy(&a, address, sizeof a);
    return a.sin_addr.s_addr != htonl(INADDR_LOOPBACK);
}

static void test_names(void)
{
    static const struct {
        const char *host;
        int r;
        unsigned least, most; /* milliseconds */
        const char *why;
    } t[] = {
        {"plain.test", 0, 0, 200, ""},
        {"slow.test", 0, 150, 400, ""},
        {"refuses.test", 0, 0, 200, ""},
        {"six.test", 0, 0, 200, ""},
        {"stalls.test", 0, TPORT_NEXT_MS, TPORT_NEXT_MS + 200, ""},
        {"never.test", TCALL_E_TIMEOUT, 590, 900, "took too long"},
        {"many.test", TCALL_E_CONNECT, 0, 200, "refused"},
        {"nobody.test", TCALL_E_RESOLVE, 0, 200, "nobody.test: "},
        {"unheard.test", TCALL_E_RESOLVE, 0, 200, "unheard.test: "},
        {"servfail.test", TCALL_E_RESOLVE, 0, 200, "servfail.test: "},
        {"silent.test", TCALL_E_TIMEOUT, 590, 900, "took too long"},
        {"empty.test", TCALL_E_RESOLVE, 0, 200, "it has no address"},
        {"127.0.0.1", 0, 0, 200, ""},
        {"localhost", 0, 0, 200, ""},
        {"LOCALHOST", 0, 0, 200, ""},
    };
    static result x;
    visit v[COUNT_OF(t)];
    int stall[6];
    uint16_t number;
    size_t i;
    pid_t pid;

    for (i = 0; i < COUNT_OF(t); i++) {
        v[i].answer = A1;
        v[i].end = NOTIFY;
    }
    pid = start_server(NULL, v, COUNT_OF(v), &number);
    make_stall(number, stall, COUNT_OF(stall));
    for (i = 0; i < COUNT_OF(t); i++) {
        tport_desc d = {0};
        uint32_t began = tport_posix_now_ms(), ms;
        int sockets = open_sockets();

        about = t[i].host;
        d.total_ms = t[i].r == TCALL_E_TIMEOUT ? 600 : 20000;
        d.insecure_plain_http = true;
        CHECK_INT(init_port("http", t[i].host, number, &d), 0);
        CHECK_INT(go(&port, &x), t[i].r);
        ms = tport_posix_now_ms() - began;
        CHECK(
            in_time((long)ms, (long)t[i].least, (long)t[i].most + 100L * slow));
        CHECK(strstr(tport_error(&port), t[i].why));
        tport_free(&port);
        CHECK_INT(open_sockets(), sockets);
        CHECK(!are_signals_blocked());
    }
    about = "no address of a name is taken where one may not be";
    {
        tport_desc d = {0};
        int sockets = open_sockets();
        d.insecure_plain_http = true;
        d.allow = is_allowed;
        CHECK_INT(init_port("http", "refuses.test", number, &d), 0);
        CHECK_INT(go(&port, &x), TCALL_E_DENIED);
        CHECK_INT(open_sockets(), sockets);
        tport_free(&port);
    }
    about = "given up before the resolver has answered";
    {
        tport_desc d = {0};
        tcall_response res;
        tcall_transport transport;
        d.insecure_plain_http = true;
        for (i = 0; i < 20; i++) {
            CHECK_INT(init_port("http", "slow.test", number, &d), 0);
            transport = tport_transport(&port);
            CHECK_INT(transport.open(transport.user, &send4, &res),
                      TCALL_E_AGAIN);
            CHECK_INT(transport.open(transport.user, &send4, &res),
                      TCALL_E_AGAIN);
            CHECK(fcntl(port.socket.fd, F_GETFD) & FD_CLOEXEC);
            transport.close(transport.user);
            tport_free(&port);
        }
        poll(NULL, 0, 200); /* nobody reads what the 20 threads find out */
    }
    about = "while DNS is silent, threads and descriptors have a bound";
    {
        tport_desc d = {0};
        tcall_response res;
        tcall_transport transport;
        int begun = 0, sockets = open_sockets();
        d.insecure_plain_http = true;
        for (i = 0; i < TPORT_RESOLVERS + 20; i++) {
            int r = TCALL_E_AGAIN, step;
            char host[40];
            sprintf(host, i % 3 ? "mute%d" : "silent.test", (int)i);
            CHECK_INT(init_port("http", host, number, &d), 0);
            transport = tport_transport(&port);
            for (step = 0; step < 2 && r == TCALL_E_AGAIN; step++)
                r = transport.open(transport.user, &send4, &res);
            begun += r == TCALL_E_AGAIN;
            transport.close(transport.user);
            tport_free(&port);
        }
        CHECK_INT(begun, TPORT_RESOLVERS + 20);
        CHECK(lookups_most <= TPORT_RESOLVERS);
        /* what has a thread keeps its pipe until that has ended */
        CHECK(open_sockets() <= sockets + 2 * TPORT_RESOLVERS);
    }
    for (i = 0; i < COUNT_OF(stall); i++)
        close(stall[i]);
    stop_server(pid);
}

static bool nothing(void *user, const struct sockaddr *address)
{
    (void)user;
    (void)address;
    return false;
}

/* Many ask at the same time, for one name or each for another: all get their
 * answer, and one name is asked for once. */
static void test_crowd(bool same)
{
    enum { CROWD = 3 * TPORT_RESOLVERS };
    static tport_posix sockets[CROWD];
    static tport_stream streams[CROWD];
    static char hosts[CROWD][16];
    static int results[CROWD];
    int i, left = CROWD, good = 0, before = lookups_begun;

    about = same ? "a crowd asks for one name" : "a crowd asks for many names";
    for (i = 0; i < CROWD; i++) {
        sprintf(hosts[i], same ? "shared.test" : "number%d", i);
        tport_posix_init(&sockets[i], hosts[i], 80);
        sockets[i].allow = nothing;
        streams[i] = tport_posix_stream(&sockets[i]);
        results[i] = TCALL_E_AGAIN;
    }
    while (left > 0) {
        tcall_wait wait;
        memset(&wait, 0, sizeof wait);
        wait.ms = 50;
        for (i = 0; i < CROWD; i++) {
            if (results[i] != TCALL_E_AGAIN)
                continue;
            results[i] = streams[i].connect(streams[i].user);
            if (results[i] == TCALL_E_AGAIN)
                streams[i].wants(streams[i].user, &wait);
            left -= results[i] != TCALL_E_AGAIN;
            good += results[i] == TCALL_E_DENIED;
        }
        if (left)
            tport_posix_wait(&wait);
    }
    CHECK_INT(good, CROWD);
    if (same)
        CHECK_INT(lookups_begun - before, 1);
    CHECK(lookups_most <= TPORT_RESOLVERS);
    for (i = 0; i < CROWD; i++)
        streams[i].close(streams[i].user);
}

static void test_urls(void)
{
    static const struct {
        const char *url;
        int r;
        const char *host, *authority, *base;
        unsigned number;
    } t[] = {
        {"https://api.openai.com", 0, "api.openai.com", "api.openai.com", "",
         443},
        {"https://a.test:8443/", 0, "a.test", "a.test:8443", "", 8443},
        {"https://a.test/openai/v1//", 0, "a.test", "a.test", "/openai/v1",
         443},
        {"http://127.0.0.1:11434", 0, "127.0.0.1", "127.0.0.1:11434", "",
         11434},
        {"http://[::1]:80/x", 0, "::1", "[::1]:80", "/x", 80},
        {"http://localhost", 0, "localhost", "localhost", "", 80},
        {"http://127.255.1.20", 0, "127.255.1.20", "127.255.1.20", "", 80},
    };
    static const char *const wrong[] = {
        "",
        "api.openai.com",
        "ftp://x",
        "HTTPS://x",
        "https://",
        "https://:1",
        "https:///x",
        "https://x:",
        "https://x:0",
        "https://x:65536",
        "https://x:99999999999",
        "https://x:1x",
        "https://u@x",
        "https://u:p@x",
        "https://x?q",
        "https://x/a?q",
        "https://x/#f",
        "https://x/a b",
        "https://x/a\r\nb",
        "https://x\\y",
        "https://x/\\y",
        "https://x:+443",
        "https://x:-443",
        "https://x: 443",
        "https://x:0x1bb",
        "https://x:4294967739",
        "https://x:18446744073709552059",
        "https://[::1]:+443",
        "https://[::1",
        "https://[]",
        "https://[x]",
        "https://x\n",
        "https://x\tb",
        /* plain, and not this machine */
        "http://example.com",
        "http://10.0.0.1",
        "http://127.0.0.1.evil.test",
        "http://127.evil.test",
        "http://127.0.0",
        "http://127.0.0.1.",
        "http://localhost.evil.test",
        "http://[::2]",
        "http://0.0.0.0",
        "http://1270.0.0.1",
        "http://127.0.0.1.1",
    };
    tport_desc d = {0};
    size_t i;

    d.ca_pem = local.ca;
    for (i = 0; i < COUNT_OF(t); i++) {
        about = d.url = t[i].url;
        CHECK_INT(tport_init(&port, &d), 0);
        CHECK(strcmp(port.host, t[i].host) == 0);
        CHECK(strcmp(port.authority, t[i].authority) == 0);
        CHECK(strcmp(port.base, t[i].base) == 0);
        CHECK_INT(port.number, (long)t[i].number);
        tport_free(&port);
    }
    for (i = 0; i < COUNT_OF(wrong); i++) {
        about = d.url = wrong[i];
        CHECK_INT(tport_init(&port, &d), TCALL_E_USAGE);
        CHECK(tport_error(&port)[0]);
        tport_free(&port);
    }
    about = d.url = "http://10.0.0.1";
    d.insecure_plain_http = true;
    CHECK_INT(tport_init(&port, &d), 0);
    tport_free(&port);
    d.url = NULL;
    CHECK_INT(tport_init(&port, &d), TCALL_E_USAGE);
    tport_free(&port);
}

int main(void)
{
    begin();
    test_urls();
    test_crowd(true);
    test_crowd(false);
    test_names();
    return check_sum("test_port_names");
}
