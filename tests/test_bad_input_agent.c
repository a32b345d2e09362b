/* Needs: AGENT. */
/* An agent whose start was refused, or never tried: it says why, and every
 * entry answers an error. */
#include "toolcall.h"
#include <limits.h>
#include "check.h"

static char block[16384];

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "done");
}

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user, (void)req;
    res->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user, (void)bytes;
    return (int)len;
}

/* The same answer again and again, with a call in it. */
static int net_read(void *user, char *bytes, size_t cap)
{
    static const char answer[] =
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
        "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
        "\"finish_reason\":\"tool_calls\"}]}";
    size_t *at = (size_t *)user, left = sizeof answer - 1 - *at;
    left = left < cap ? left : cap;
    memcpy(bytes, answer + *at, left);
    *at += left;
    return (int)left;
}

static void net_close(void *user)
{
    *(size_t *)user = 0;
}

static size_t read_at;

/* What works; each test takes something away. */
static void complete(tcall *tc, tcall_agent_desc *desc)
{
    static tcall_tool tool;
    tcall_desc d;
    tool.name = "f";
    tool.description = "Does it.";
    tool.parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tool.run = run;
    tool.permissions = TCALL_READ;
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.report = &tcall_report;
    d.block_size = sizeof block;
    d.tools = &tool;
    d.tool_count = 1;
    d.allow = TCALL_READ;
    CHECK(tcall_init(tc, &d) == TCALL_OK);
    memset(desc, 0, sizeof *desc);
    desc->tc = tc;
    desc->provider = &tcall_openai;
    desc->model = "m";
    desc->transport.open = net_open;
    desc->transport.write = net_write;
    desc->transport.read = net_read;
    desc->transport.close = net_close;
    desc->transport.user = &read_at;
}

static void every_entry_refuses(tcall_agent *agent)
{
    tcall_call call;
    memset(&call, 0, sizeof call);
    tcall_agent_cancel(agent);
    CHECK(tcall_agent_say(agent, tcall_str_of("hi")) == TCALL_E_USAGE);
    CHECK(tcall_agent_step(agent) == TCALL_E_USAGE);
    CHECK(tcall_agent_run(agent, tcall_str_of("hi")) == TCALL_E_USAGE);
    CHECK(tcall_agent_plan(agent, tcall_str_of("hi"), NULL, 0) ==
          TCALL_E_USAGE);
    CHECK(tcall_agent_call(agent, 0, &call) == TCALL_E_USAGE);
    CHECK(tcall_agent_result(agent, &call, tcall_str_of(""), false) ==
          TCALL_E_USAGE);
    CHECK(tcall_agent_text(agent).len == 0);
}

/* Refused with a sentence that begins with what is missing. */
static void refused(const tcall_agent_desc *desc, const char *begins)
{
    static tcall_agent agent;
    memset(&agent, 0xA5, sizeof agent);
    CHECK(tcall_agent_init(&agent, desc) == TCALL_E_USAGE);
    CHECK(agent.problem && strncmp(agent.problem, begins, strlen(begins)) == 0);
    every_entry_refuses(&agent);
}

static void test_missing(void)
{
    static tcall_provider nothing;
    tcall tc, empty;
    tcall_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    refused(&desc, "tc ");
    memset(&empty, 0, sizeof empty);
    complete(&tc, &desc);
    desc.tc = &empty;
    refused(&desc, "tc ");
    complete(&tc, &desc);
    desc.provider = NULL;
    refused(&desc, "provider ");
    complete(&tc, &desc);
    desc.model = NULL;
    refused(&desc, "model ");
    desc.model = "";
    refused(&desc, "model ");
    complete(&tc, &desc);
    desc.provider = &nothing;
    refused(&desc, "provider ");
    complete(&tc, &desc);
    desc.max_ms = 1000; /* nobody could tell when they are over */
    refused(&desc, "max_ms ");
}

/* Without a report as much is refused, without words. */
static void test_no_report(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    complete(&tc, &desc);
    tc.desc.report = NULL;
    desc.model = NULL;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_E_USAGE && !agent.problem);
    desc.model = "m";
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    agent.desc.extra = "[]";
    CHECK(tcall_agent_say(&agent, tcall_str_of("hi")) == TCALL_E_USAGE);
    CHECK(!agent.problem);
    desc.transport.write = NULL;
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_E_USAGE && !agent.problem);
    desc.tc = NULL;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_E_USAGE);
    CHECK(strncmp(agent.problem, "tc is missing", 13) == 0);
}

static void test_provider(void)
{
    tcall_provider other = tcall_openai;
    tcall_agent_desc desc;
    tcall tc;
    complete(&tc, &desc);
    desc.provider = &other;
    other.answer = NULL;
    refused(&desc, "provider is empty");
    other = tcall_openai;
    other.path = NULL;
    refused(&desc, "path is missing");
}

static int writes_nothing(const tcall_provider *provider, tcall_writer *out,
                          const tcall_chat_request *request)
{
    (void)provider, (void)request;
    return out->error = TCALL_E_REQUEST;
}

/* One that cannot write the request: nobody is connected. */
static void test_unwritten(void)
{
    tcall_provider other = tcall_openai;
    tcall_agent_desc desc;
    tcall_agent agent;
    tcall tc;
    other.write = writes_nothing;
    complete(&tc, &desc);
    desc.provider = &other;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_E_REQUEST);
    CHECK(read_at == 0 && agent.turn.rounds == 0);
}

/* Headers that would break the request, or that it has already. */
static void test_headers(void)
{
    static const struct {
        const char *name, *value, *secret, *problem;
    } rows[] = {
        {"X-Good", "yes", NULL, NULL},
        {"X-Good", "tab is none: \xC3\xA9 ~", "s", NULL},
        {NULL, "yes", NULL, "a header's name"},
        {"", "yes", NULL, "a header's name"},
        {"X Bad", "yes", NULL, "a header's name"},
        {"X-Bad", "a\r\nHost: b", NULL, "a header's value"},
        {"X-Bad", "a\x7F", NULL, "a header's value"},
        {"X-Bad", "a\x1F", NULL, "a header's value"},
        {"X-Bad", NULL, "a\nb", "a header's value"},
        {"content-type", "text/plain", NULL, "headers hold one that each"},
        {"Content-LENGTH", "1", NULL, "headers hold one that each"},
        {"Transfer-Encoding", "chunked", NULL, "headers hold one that each"},
        {"HOST", "b", NULL, "headers hold one that each"},
        {"Hosts", "b", NULL, NULL},
        {"Hos", "b", NULL, NULL},
        {"authorization", "b", NULL, "headers hold the one"},
        {"1st.good", "yes", NULL, NULL},
    };
    tcall_header headers[TCALL_AGENT_HEADERS + 1];
    tcall_agent_desc desc;
    tcall tc;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        static tcall_agent agent;
        memset(headers, 0, sizeof headers);
        headers[0].name = rows[i].name;
        headers[0].value = rows[i].value;
        headers[0].secret = rows[i].secret;
        complete(&tc, &desc);
        desc.headers = headers;
        desc.header_count = 1;
        desc.key = "k";
        if (rows[i].problem)
            refused(&desc, rows[i].problem);
        else
            CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    }
    for (i = 0; i < TCALL_ARRAY_LEN(headers); i++) {
        headers[i].name = "X-Good";
        headers[i].value = "yes";
    }
    desc.header_count = TCALL_ARRAY_LEN(headers);
    refused(&desc, "headers are too many");
}

/* What is added to a body must be an object that all servers can hold. */
static void test_extra(void)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"{}", true},
        {" {\"a\":true,\"e\":1e5}", true},
        {"{\"a\":[1,-1E+3,{\"b\":0.5e-300}],\"c\":\"1e999\"}", true},
        {"{\"a\":\"\\\"\",\"b\":1e308}", true},
        {"{\"a\":\"\\\"1e999\",\"b\":1}", true},
        {"{\"a\":9e9,\"b\":[1e999]}", false},
        {"{\"a\":\"\\\\\",\"b\":9e999}", false},
        {"{\"a\":\"\\\"\",\"b\":-9e999}", false},
        {"{\"b\":1e5,\"a\":true,\"c\":1e309}", false},
        {"{\"a\":[1e-400]}", true},
        {"", false},
        {" ", false},
        {"[]", false},
        {"{\"a\":}", false},
        {"{} {}", false},
        {"{\"messages\":[]}", false},
        {"{\"a\":{\"messages\":[]}}", true},
    };
    static tcall_agent agent;
    tcall_agent_desc desc;
    tcall tc;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++) {
        complete(&tc, &desc);
        desc.extra = rows[i].text;
        if (rows[i].good)
            CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
        else
            refused(&desc, "extra ");
    }
}

/* A registry that was refused. */
static void test_failed_registry(void)
{
    static tcall_tool wrong;
    tcall tc;
    tcall_desc d;
    tcall_agent_desc desc;
    complete(&tc, &desc);
    wrong.name = "no good name";
    memset(&d, 0, sizeof d);
    d.block = block;
    d.lenient = &tcall_lenient;
    d.block_size = sizeof block;
    d.tools = &wrong;
    d.tool_count = 1;
    CHECK(tcall_init(&tc, &d) < 0);
    refused(&desc, "tc ");
}

static void test_transport(void)
{
    int missing;
    for (missing = 0; missing < 5; missing++) {
        tcall tc;
        tcall_agent_desc desc;
        complete(&tc, &desc);
        if (missing == 0 || missing == 4)
            desc.transport.open = NULL;
        if (missing == 1 || missing == 4)
            desc.transport.write = NULL;
        if (missing == 2 || missing == 4)
            desc.transport.read = NULL;
        if (missing == 3 || missing == 4)
            desc.transport.close = NULL;
        refused(&desc, "transport ");
    }
}

/* An agent that is zero, and one for which the block was too small. */
static void test_not_started(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    size_t size;
    every_entry_refuses(&agent);
    complete(&tc, &desc);
    desc.io_size = (size_t)-1;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_E_MEMORY);
    every_entry_refuses(&agent);
    complete(&tc, &desc);
    for (size = 0; size < 64; size += 8) {
        tc.block.size = ((tc.block.low + 7) & ~(size_t)7) + size;
        CHECK(tcall_agent_init(&agent, &desc) == TCALL_E_MEMORY);
        CHECK(!agent.problem && tc.block.need > tc.block.size);
        every_entry_refuses(&agent);
    }
}

/* Numbers below zero are what zero is: the default. */
static void test_numbers(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    complete(&tc, &desc);
    desc.max_rounds = desc.max_calls = desc.max_tries = desc.parallel = -7;
    desc.max_tokens = -1;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK && !agent.problem);
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_E_LIMIT);
    CHECK(agent.turn.rounds == 8 && agent.turn.calls == 8);
}

/* Numbers that its counters cannot hold are the most that they can. */
static void test_large_numbers(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    complete(&tc, &desc);
    desc.max_rounds = desc.max_calls = desc.max_tries = INT_MAX;
    desc.allow_repeat = true;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK && !agent.problem);
    CHECK(tcall_agent_say(&agent, tcall_str_of("go")) == TCALL_OK);
    agent.turn.rounds = TCALL_AGENT_MOST - 2; /* as after many a step */
    while (tcall_agent_step(&agent) == TCALL_E_AGAIN)
        CHECK(agent.turn.rounds >= TCALL_AGENT_MOST - 2);
    CHECK(agent.turn.rounds == TCALL_AGENT_MOST);
}

/* One is a limit, not the default. */
static void test_ones(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    complete(&tc, &desc);
    desc.max_rounds = desc.max_calls = desc.max_tries = 1;
    desc.max_wait_ms = 1;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(agent.desc.max_tries == 1 && agent.desc.max_wait_ms == 1);
    CHECK(tcall_agent_run(&agent, tcall_str_of("go")) == TCALL_E_LIMIT);
    CHECK(agent.turn.rounds == 1 && agent.turn.calls == 1);
}

/* A plan that nobody carries out can be left. */
static void test_plan_left(void)
{
    static tcall_agent agent;
    tcall tc;
    tcall_agent_desc desc;
    tcall_call call;
    memset(&call, 0, sizeof call);
    complete(&tc, &desc);
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(tcall_agent_call(&agent, 0, &call) == TCALL_E_USAGE);
    CHECK(tcall_agent_result(&agent, &call, tcall_str_of(""), false) ==
          TCALL_E_USAGE);
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), NULL, 0) == 1);
    CHECK(tcall_agent_plan(&agent, tcall_str_of(""), NULL, 0) == TCALL_E_USAGE);
    CHECK(tcall_agent_step(&agent) == TCALL_E_USAGE);
    CHECK(tcall_agent_call(&agent, -1, &call) == TCALL_E_USAGE);
    CHECK(tcall_agent_call(&agent, 1, &call) == TCALL_E_USAGE);
    tcall_agent_cancel(&agent);
    CHECK(tcall_agent_step(&agent) == TCALL_E_CANCELLED);
    CHECK(tc.block.low == agent.chat.start); /* nothing of it is left */
    CHECK(tcall_agent_plan(&agent, tcall_str_of("go"), NULL, 0) == 1);
}

int main(void)
{
    test_missing();
    test_no_report();
    test_provider();
    test_unwritten();
    test_headers();
    test_extra();
    test_failed_registry();
    test_transport();
    test_not_started();
    test_numbers();
    test_large_numbers();
    test_ones();
    test_plan_left();
    return check_sum("bad_input_agent");
}
