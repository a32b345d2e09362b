// port/arduino.h over a Client that follows a script, with a clock that this
// test turns: pieces, silence, ends, a redirect, a whole turn of an agent.
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include "port/arduino.h"
#include "tests/check.h"

static unsigned long now;

unsigned long millis()
{
    return now;
}

void delay(unsigned long ms)
{
    now += ms;
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: "

// What it sends after each request, and how it behaves.
struct Script : Client {
    const char *answers[3];
    int answer, connects;
    size_t at, piece; // bytes of the answer that went; at most so many at once
    bool refuses, ends, stuck, up;
    char sent[8192];
    size_t length;

    int connect(const char *host, uint16_t number)
    {
        connects++;
        up = !refuses && strcmp(host, "api.test") == 0 && number == 443;
        return up;
    }
    size_t write(const uint8_t *bytes, size_t count)
    {
        if (!up || stuck)
            return 0;
        count = count < piece ? count : piece;
        count =
            count < sizeof sent - 1 - length ? count : sizeof sent - 1 - length;
        memcpy(sent + length, bytes, count);
        length += count;
        return count;
    }
    const char *rest()
    {
        return answers[answer] ? answers[answer] + at : "";
    }
    int available()
    {
        size_t count = up && length ? strlen(rest()) : 0;
        return (int)(count < piece ? count : piece);
    }
    int read(uint8_t *bytes, size_t cap)
    {
        memcpy(bytes, rest(), cap);
        at += cap;
        return (int)cap;
    }
    void stop()
    {
        up = false;
        answer += at > 0;
        at = 0;
    }
    uint8_t connected()
    {
        return up && !(ends && !*rest());
    }
};

static Script client;
static tport_arduino port;

static tcall_transport start(const char *answer, size_t piece)
{
    client = Script();
    client.answers[0] = answer;
    client.piece = piece;
    CHECK(tport_arduino_init(&port, &client, "api.test", 443, "/v1") ==
          TCALL_OK);
    return tport_arduino_transport(&port);
}

static char body[64];
static int waits;

// Waits as the agent does. Answers whether the result was AGAIN.
static bool again(tcall_transport t, int result)
{
    tcall_wait wait = tcall_wait();
    if (result != TCALL_E_AGAIN)
        return false;
    wait.ms = TCALL_WAIT_NEVER;
    t.wants(t.user, &wait);
    t.wait(t.user, &wait);
    return ++waits < 10000;
}

// One POST of two bytes. Returns what it ended with.
static int ask(tcall_transport t, tcall_response *response)
{
    tcall_request request = tcall_request();
    size_t length = 0;
    int result;
    request.method = "POST";
    request.path = "/v1/chat";
    request.body_len = 2;
    body[0] = '\0';
    do
        result = t.open(t.user, &request, response);
    while (again(t, result));
    for (size_t sent = 0; result == TCALL_OK && sent < 2;) {
        do
            result = t.write(t.user, "{}" + sent, 2 - sent);
        while (again(t, result));
        sent += result > 0 ? (size_t)result : 0;
        result = result > 0 ? TCALL_OK : result;
    }
    if (result == TCALL_OK)
        do {
            result = t.read(t.user, body + length, sizeof body - 1 - length);
            length += result > 0 ? (size_t)result : 0;
        } while (result > 0 || again(t, result));
    body[length] = '\0';
    t.close(t.user);
    return result;
}

static void test_exchanges(void)
{
    tcall_response response;
    size_t piece;
    for (piece = 1; piece < 200; piece = piece * 2 + 1) {
        tcall_transport t = start(HEAD "5\r\n\r\nhello", piece);
        CHECK(ask(t, &response) == TCALL_OK && response.status == 200);
        CHECK(strcmp(body, "hello") == 0);
        CHECK(strstr(client.sent, "POST /v1/chat HTTP/1.1\r\n"
                                  "Host: api.test\r\n") == client.sent);
    }
    tport_arduino_init(&port, &client, "api.test", 8443, "");
    CHECK(strcmp(port.authority, "api.test:8443") == 0);
}

static void test_ends(void)
{
    tcall_response response;
    tcall_transport t = start("HTTP/1.1 200 OK\r\n\r\nuntil the end", 99);
    client.ends = true;
    CHECK(ask(t, &response) == TCALL_E_CLOSED);
    t = start(HEAD "9\r\n\r\nhello", 99);
    client.ends = true;
    CHECK(ask(t, &response) == TCALL_E_CLOSED);
    t = start(NULL, 99);
    client.refuses = true;
    CHECK(ask(t, &response) == TCALL_E_CONNECT);
    CHECK(strstr(tport_arduino_error(&port), "does not connect") != NULL);
}

// Silence ends at the limit, by the clock of the sketch, whoever is silent.
static void test_silence(void)
{
    tcall_response response;
    tcall_transport t = start(HEAD "9\r\n\r\nhello", 3);
    unsigned long began = now;
    port.idle_ms = 5000;
    waits = 0;
    CHECK(ask(t, &response) == TCALL_E_TIMEOUT);
    CHECK(now - began == 5000);
    CHECK(waits <= 20);
    client.answers[0] = client.answers[1] = HEAD "2\r\n\r\nok";
    CHECK(ask(t, &response) == TCALL_OK && strcmp(body, "ok") == 0);
    t = start(HEAD "2\r\n\r\nok", 9);
    client.stuck = true;
    port.idle_ms = 2000;
    began = now;
    CHECK(ask(t, &response) == TCALL_E_TIMEOUT && now - began == 2000);
}

// The agent opens the same request again, below the place that was named.
static void test_agent(void)
{
    static char block[8192];
    static tcall tc;
    static tcall_agent agent;
    tcall_desc desc = tcall_desc();
    tcall_agent_desc asks = tcall_agent_desc();
    const char *said = "{\"choices\":[{\"message\":{\"role\":\"assistant\","
                       "\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}";
    static char answer[300];
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = sizeof block;
    asks.tc = &tc;
    asks.provider = &tcall_openai;
    asks.model = "m";
    asks.transport = start("HTTP/1.1 308 There\r\n"
                           "Location: https://api.test/new/chat\r\n\r\n",
                           50);
    sprintf(answer, HEAD "%u\r\n\r\n%s", (unsigned)strlen(said), said);
    client.answers[1] = answer;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    CHECK(tcall_agent_init(&agent, &asks) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == TCALL_OK);
    CHECK(tcall_agent_text(&agent).len == 6);
    CHECK(client.connects == 2);
    CHECK(strstr(client.sent, "POST /v1/chat/completions ") != NULL);
    CHECK(strstr(client.sent, "POST /new/chat ") != NULL);
}

int main()
{
    test_exchanges();
    test_ends();
    test_silence();
    test_agent();
    return check_sum("arduino_client");
}
