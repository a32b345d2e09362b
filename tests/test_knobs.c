/* Needs: AGENT. */
/* What a user adds to requests: members of the body, headers, and limits; and
 * what is refused before anything is sent. */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/agent_loop.c"
#include "../src/servers.c"
#endif
#include "check.h"
#include "wire.h"

static char sent[16384], head[1024];
static size_t sent_len, given;
static int opened, status;
static const char *answer;
static uint32_t clock_ms;

static int net_open(void *user, const tcall_request *request,
                    tcall_response *response)
{
    size_t i;
    (void)user;
    head[0] = 0;
    for (i = 0; i < request->header_count; i++) {
        const tcall_header *header = &request->headers[i];
        char *end = head + strlen(head);
        sprintf(end, "%s: %s%s\n", header->name,
                header->value ? header->value : "",
                header->secret ? header->secret : "");
    }
    opened++;
    sent_len = given = 0;
    response->status = status;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    len = len < 100 ? len : 100;
    CHECK(sent_len + len < sizeof sent);
    memcpy(sent + sent_len, bytes, len);
    sent_len += len;
    sent[sent_len] = 0;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    size_t len = strlen(answer) - given;
    (void)user;
    len = len < cap ? len : cap;
    memcpy(bytes, answer + given, len);
    given += len;
    return (int)len;
}

static void net_close(void *user)
{
    (void)user;
}

static uint32_t net_now(void *user)
{
    (void)user;
    return clock_ms += 10000;
}

static char block[32768];
static tcall tc;
static tcall_agent agent;
static tcall_agent_desc desc;

/* Begins with a desc to which a test adds what it is about. */
static void set_up(const tcall_provider *provider)
{
    tcall_desc registry;
    memset(&registry, 0, sizeof registry);
    memset(&desc, 0, sizeof desc);
    registry.block = block;
    registry.lenient = &tcall_lenient;
    registry.report = &tcall_report;
    registry.block_size = sizeof block;
    CHECK(tcall_init(&tc, &registry) == TCALL_OK);
    desc.tc = &tc;
    desc.provider = provider;
    desc.model = "m";
    desc.transport.open = net_open;
    desc.transport.write = net_write;
    desc.transport.read = net_read;
    desc.transport.close = net_close;
    desc.transport.now_ms = net_now;
    opened = 0;
    status = 200;
}

#define EXTRA                                                           \
    " {\"temperature\":0.2,\"response_format\":{\"type\":\"json_schema" \
    "\",\"schema\":{\"type\":\"object\"}}} "

/* In each format, and where it says what we would have said. */
static void test_extra(void)
{
    static const char *const own[][2] = {
        {"openai", "{\"max_completion_tokens\":7}"},
        {"mistral", "{\"max_tokens\":7}"},
        {"responses", "{\"max_output_tokens\":7,\"include\":[\"x\"]}"},
        {"anthropic", "{\"max_tokens\":7,\"cache_control\":null}"},
        {"ollama", "{\"options\":{\"num_predict\":7}}"},
        {"gemini", "{\"generationConfig\":{\"maxOutputTokens\":7}}"}};
    tcall_block memory;
    tcall_chat chat;
    tcall_item item;
    tcall_chat_request ask;
    size_t i;
    memset(&ask, 0, sizeof ask);
    memset(&item, 0, sizeof item);
    tcall_block_init(&memory, block, sizeof block);
    tcall_chat_init(&chat, &memory);
    item.text = tcall_str_of("hi");
    tcall_chat_add(&chat, &item);
    ask.model = "m";
    ask.chat = &chat;
    for (i = 0; i < TCALL_ARRAY_LEN(own); i++) {
        const tcall_provider *provider = tcall_provider_named(own[i][0]);
        const char *body;
        ask.extra = EXTRA;
        CHECK(has(write_body(provider, &ask),
                  ",\"temperature\":0.2,\"response_format\":{\"type\":"
                  "\"json_schema\",\"schema\":{\"type\":\"object\"}}}"));
        ask.extra = " { } ";
        CHECK(!strstr(write_body(provider, &ask), ",}"));
        ask.extra = own[i][1];
        ask.max_tokens = 999;
        ask.cache_prompt = true;
        body = write_body(provider, &ask);
        CHECK(strstr(body, "7") && !strstr(body, "999") &&
              !strstr(body, "ephemeral"));
        ask.extra = NULL;
        body = write_body(provider, &ask);
        CHECK(strstr(body, "999") != NULL);
        CHECK((strstr(body, "ephemeral") != NULL) ==
              (provider == &tcall_anthropic));
        ask.max_tokens = 0;
        ask.cache_prompt = false;
    }
    CHECK(has(write_body(&tcall_anthropic, &ask), "\"max_tokens\":8192"));
}

/* Is it refused at the start, and between two turns? */
static bool refuses(const char *extra, const char *name, const char *value)
{
    tcall_header header;
    bool at_start;
    memset(&header, 0, sizeof header);
    header.name = name;
    header.value = value;
    set_up(&tcall_anthropic);
    desc.key = "secret";
    desc.extra = extra;
    desc.headers = &header;
    desc.header_count = value ? 1 : 0;
    at_start = tcall_agent_init(&agent, &desc) == TCALL_E_USAGE &&
               agent.problem != NULL;
    set_up(&tcall_anthropic);
    desc.key = "secret";
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    agent.desc.extra = extra;
    agent.desc.headers = &header;
    agent.desc.header_count = value ? 1 : 0;
    CHECK((tcall_agent_say(&agent, tcall_str_of("hi")) == TCALL_E_USAGE) ==
          at_start);
    return at_start;
}

static void test_refused(void)
{
    CHECK(!refuses("{\"temperature\":1}", "anthropic-beta", "a,b"));
    CHECK(!refuses(NULL, "Authorization", "Bearer of a gateway"));
    CHECK(refuses("", NULL, NULL));
    CHECK(refuses("\"temperature\":1", NULL, NULL));
    CHECK(refuses("{\"temperature\":1", NULL, NULL));
    CHECK(refuses("{\"temperature\":1}}", NULL, NULL));
    CHECK(refuses("[1]", NULL, NULL));
    CHECK(refuses("{\"a\":1,\"messages\":[]}", NULL, NULL));
    CHECK(refuses("{\"stream\":true}", NULL, NULL));
    CHECK(refuses(NULL, "", "v"));
    CHECK(refuses(NULL, "two words", "v"));
    CHECK(refuses(NULL, "colon:", "v"));
    CHECK(refuses(NULL, "X-A", "line\r\nX-B: end"));
    CHECK(refuses(NULL, "X-A", "tab\t"));
    CHECK(refuses(NULL, "X-API-KEY", "another"));
    CHECK(refuses(NULL, "content-type", "text/plain"));
    set_up(&tcall_openai);
    desc.header_count = TCALL_AGENT_HEADERS + 1;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_E_USAGE);
}

#define TEXT                                              \
    "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]," \
    "\"stop_reason\":\"end_turn\"}"

/* Headers go out beside ours, and take the place of the version. */
static void test_headers(void)
{
    static const tcall_header headers[] = {
        {"anthropic-beta", "a,b", NULL},
        {"Anthropic-Version", "2026-10-21", NULL},
        {"x-gateway", "key ", "hidden"}};
    set_up(&tcall_anthropic);
    desc.key = "secret";
    desc.headers = headers;
    desc.header_count = 3;
    desc.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
    answer = TEXT;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == TCALL_OK);
    CHECK(same(head, "Content-Type: application/json\nanthropic-beta: a,b\n"
                     "Anthropic-Version: 2026-10-21\nx-gateway: key hidden\n"
                     "x-api-key: secret\n"));
    CHECK(has(sent, ",\"metadata\":{\"user_id\":\"u\"}}"));
    agent.desc.extra = NULL;
    agent.desc.header_count = 0;
    CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == TCALL_OK);
    CHECK(has(head, "anthropic-version: 2023-06-01\nx-api-key"));
    CHECK(!strstr(sent, "metadata"));
}

/* Waiting does not bring money. */
static void test_quota(void)
{
    static const struct {
        int status;
        const char *body;
        int error, tries;
    } cases[] = {{429,
                  "{\"error\":{\"message\":\"You exceeded your current quota\","
                  "\"code\":\"insufficient_quota\"}}",
                  TCALL_E_QUOTA, 1},
                 {402, "{\"error\":{\"message\":\"Insufficient Balance\"}}",
                  TCALL_E_QUOTA, 1},
                 {429,
                  "{\"error\":{\"message\":\"slow down\",\"code\":"
                  "\"rate_limit_exceeded\"}}",
                  TCALL_E_RATE, 3}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(cases); i++) {
        set_up(&tcall_openai);
        answer = cases[i].body;
        status = cases[i].status;
        CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
        CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == cases[i].error);
        CHECK(opened == cases[i].tries);
    }
}

/* Ollama loads the model anew for another size: it is said once, and doubled
 * only when the conversation has outgrown it. */
static void test_context(void)
{
    static char question[4000];
    int i;
    set_up(&tcall_ollama);
    answer = "{\"message\":{\"content\":\"ok\"},\"done\":true,"
             "\"done_reason\":\"stop\"}";
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    for (i = 0; i < 6; i++) {
        CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == TCALL_OK);
        CHECK(has(sent, "\"options\":{\"num_ctx\":4096}"));
    }
    memset(question, 'a', sizeof question - 1);
    for (i = 0; i < 3; i++) {
        CHECK(tcall_agent_run(&agent, tcall_str_of(question)) == TCALL_OK);
        CHECK(has(sent, i < 2 ? "\"num_ctx\":4096}" : "\"num_ctx\":8192}"));
    }
    CHECK(tcall_agent_run(&agent, tcall_str_of("hi")) == TCALL_OK);
    CHECK(has(sent, "\"num_ctx\":8192}"));
}

int main(void)
{
    test_extra();
    test_refused();
    test_headers();
    test_quota();
    test_context();
    return check_sum("test_knobs");
}
