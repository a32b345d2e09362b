/* Needs: AGENT. */
/* Images that the user shows and that tools attach, in each format; those whose
 * memory is used again, and those of a conversation that was saved. */
#include "canned.h"
#include "check.h"

#define PNG(text) "image/png", tcall_str_of(text)

typedef struct machine {
    char block[16384];
    tcall tc;
    tcall_agent agent;
} machine;

static machine m;

/* Attaches two images, a text and an image of no bytes, each to its result. */
static int fire(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    static tcall_attachment list[2][4];
    static char pixels[2][4];
    int n = (int)tcall_json_int(tcall_json_get(args, "n"), 0) % 2, i;
    for (i = 0; i < 4; i++) {
        tcall_attachment *one = &list[n][i];
        pixels[n][i] = (char)('a' + 3 * n + i);
        one->type = i == 1 ? "text/plain" : "image/jpeg";
        one->bytes.ptr = &pixels[n][i];
        one->bytes.len = i < 3;
        one->next = cx->result.attached;
        cx->result.attached = one;
    }
    return tcall_write_int(out, n);
}

static size_t block_size = sizeof m.block;

static int try_start(const tcall_provider *provider, tcall_transport transport)
{
    int error;
    static tcall_tool tool;
    tcall_desc desc;
    tcall_agent_desc agent;
    tool.name = "fire";
    tool.parameters =
        tcall_schema_text_of("{\"type\":\"object\",\"properties\":"
                             "{\"n\":{\"type\":\"integer\"}}}");
    tool.run = fire;
    tool.permissions = TCALL_READ;
    memset(&desc, 0, sizeof desc);
    desc.block = m.block;
    desc.lenient = &tcall_lenient;
    desc.block_size = block_size;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    error = tcall_init(&m.tc, &desc);
    memset(&agent, 0, sizeof agent);
    agent.tc = &m.tc;
    agent.provider = provider;
    agent.model = "m";
    agent.transport = transport;
    return error < 0 ? error : tcall_agent_init(&m.agent, &agent);
}

static void start(const tcall_provider *provider, tcall_transport transport)
{
    CHECK(try_start(provider, transport) == TCALL_OK);
}

static int say(const char *text)
{
    return tcall_agent_run(&m.agent, tcall_str_of(text));
}

/* Is each of these in the request, after the one before it? */
static bool sent(const char *first, const char *second, const char *third)
{
    const char *at = strstr(request, first);
    at = at ? strstr(at, second) : NULL;
    return at && strstr(at, third);
}

/* ---- forms ---- */

/* The test vectors of RFC 4648, 10. */
static void test_base64(void)
{
    static const char *const pairs[][2] = {
        {"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    static const char *const turns[] = {SAYS("A fox.")};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(pairs); i++) {
        char data[64];
        canned = turns;
        start(&tcall_openai, canned_transport());
        CHECK(tcall_agent_show(&m.agent, PNG(pairs[i][0])) == TCALL_OK);
        CHECK(say("What?") == TCALL_OK);
        snprintf(data, sizeof data, "\"data:image/png;base64,%s\"",
                 pairs[i][1]);
        CHECK(strstr(request, data) != NULL);
    }
}

static void test_forms(void)
{
    static const struct {
        const tcall_provider *provider;
        const char *image, *text;
    } forms[] = {
        {&tcall_openai,
         "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\","
         "\"image_url\":{\"url\":\"data:image/png;base64,Zm9v\"}},",
         "{\"type\":\"text\",\"text\":\"What?\"}]}"},
        {&tcall_responses,
         "{\"role\":\"user\",\"content\":[{\"type\":\"input_image\","
         "\"detail\":\"auto\",\"image_url\":\"data:image/png;base64,Zm9v\"}]},",
         "{\"role\":\"user\",\"content\":\"What?\"}"},
        {&tcall_anthropic,
         "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":"
         "{\"type\":\"base64\",\"media_type\":\"image/png\","
         "\"data\":\"Zm9v\"}},",
         "{\"type\":\"text\",\"text\":\"What?\"}]}"},
        {&tcall_gemini,
         "{\"role\":\"user\",\"parts\":[{\"inlineData\":"
         "{\"mimeType\":\"image/png\",\"data\":\"Zm9v\"}},",
         "{\"text\":\"What?\"}]}"},
        {&tcall_ollama,
         "{\"role\":\"user\",\"content\":\"\",\"images\":[\"Zm9v\"]},",
         "{\"role\":\"user\",\"content\":\"What?\"}"},
        {&tcall_interactions,
         "{\"type\":\"user_input\",\"content\":[{\"type\":\"image\","
         "\"mime_type\":\"image/png\",\"data\":\"Zm9v\"}]},",
         "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\","
         "\"text\":\"What?\"}]}"}};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(forms); i++) {
        static const char *const turns[] = {"{}"};
        char both[512];
        canned = turns;
        start(forms[i].provider, canned_transport());
        CHECK(tcall_agent_show(&m.agent, PNG("foo")) == TCALL_OK);
        say("What?");
        snprintf(both, sizeof both, "%s%s", forms[i].image, forms[i].text);
        CHECK(strstr(request, both) != NULL);
    }
}

/* ---- results ---- */

/* Two calls side by side: first both results, then the images of each, in the
 * order in which they were attached. They stay what they were. */
static void test_results(void)
{
    static const char *const turns[] = {
        ASKS(CALL("one", "0") "," CALL("two", "1")), SAYS("I see."),
        SAYS("Yes.")};
    char before[sizeof request];
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(say("fire") == TCALL_OK);
    CHECK(sent("\"tool_call_id\":\"one\"", "\"tool_call_id\":\"two\"",
               "base64,YQ==") &&
          sent("base64,YQ==", "base64,Yw==", "base64,ZA==") &&
          sent("base64,ZA==", "base64,Zg==", "\"}}]}]"));
    CHECK(!strstr(request, "base64,Yg==")); /* that of the text */
    strcpy(before, request);
    CHECK(say("sure?") == TCALL_OK);
    CHECK(strncmp(before, request,
                  (size_t)(strstr(before, "],\"tools\"") - before)) == 0);
}

/* A tool that uses its memory again: the older image is gone. */
static void test_again(void)
{
    static const char *const turns[] = {ASKS(CALL("one", "0")), SAYS("One."),
                                        ASKS(CALL("two", "0")), SAYS("Two.")};
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(say("fire") == TCALL_OK);
    CHECK(!strstr(request, "is gone"));
    CHECK(say("again") == TCALL_OK);
    CHECK(sent("is gone", "is gone", "\"two\"") &&
          sent("\"tool_call_id\":\"two\"", "base64,YQ==", "base64,Yw=="));
}

/* ---- memory ---- */

/* What overlaps the new image is gone, and with it reasoning, which providers
 * bind to all before it. */
static void test_overwritten(void)
{
    static const char *const turns[] = {SAYS("One."), SAYS("Two."),
                                        SAYS("Three.")};
    static char frame[8] = "abcdefg";
    tcall_str low = {frame, 4}, high = {frame + 4, 4}, middle = {frame + 3, 2};
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(tcall_agent_show(&m.agent, "image/png", low) == TCALL_OK);
    CHECK(tcall_agent_show(&m.agent, "image/png", high) == TCALL_OK);
    CHECK(say("What?") == TCALL_OK);
    CHECK(sent("base64,YWJjZA==", "base64,ZWZnAA==", "What?") &&
          !strstr(request, "is gone"));
    CHECK(tcall_agent_show(&m.agent, "image/png", middle) == TCALL_OK);
    CHECK(m.agent.chat.edited);
    CHECK(say("And now?") == TCALL_OK);
    CHECK(sent("is gone", "is gone", "What?") &&
          strstr(request, "base64,ZGU="));
    CHECK(!m.agent.chat.edited);
}

/* A restart loses what was only in memory. */
static void test_saved(void)
{
    static const char *const turns[] = {SAYS("One."), SAYS("Two.")};
    static char bytes[2048];
    tcall_writer out;
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(tcall_agent_show(&m.agent, PNG("foo")) == TCALL_OK);
    CHECK(say("What?") == TCALL_OK);
    tcall_writer_init(&out, bytes, sizeof bytes);
    CHECK(tcall_agent_save(&m.agent, &out) == TCALL_OK);
    start(&tcall_openai, canned_transport());
    CHECK(tcall_agent_load(&m.agent, (tcall_str){bytes, out.fill}) == TCALL_OK);
    CHECK(say("And now?") == TCALL_OK);
    CHECK(sent("is gone", "What?", "One.") && !strstr(request, "base64"));
}

/* ---- refusals ---- */

static void test_refused(void)
{
    static const char *const turns[] = {SAYS("One.")};
    static const char *const types[] = {"",
                                        "text/plain",
                                        "image/",
                                        "image/a b",
                                        "image/\"",
                                        "image/a\n",
                                        "image/p;q=1",
                                        "image/a\x7F",
                                        "image/a\xC3\xA4",
                                        NULL};
    size_t i;
    canned = turns;
    start(&tcall_openai, canned_transport());
    for (i = 0; i < TCALL_ARRAY_LEN(types); i++)
        CHECK(tcall_agent_show(&m.agent, types[i], tcall_str_of("foo")) ==
              TCALL_E_USAGE);
    CHECK(tcall_agent_show(&m.agent, PNG("")) == TCALL_E_USAGE);
    CHECK(tcall_agent_say(&m.agent, tcall_str_of("hello")) == TCALL_OK);
    CHECK(tcall_agent_show(&m.agent, PNG("foo")) == TCALL_E_USAGE);
    while (tcall_agent_step(&m.agent) == TCALL_E_AGAIN)
        continue;
    CHECK(!strstr(request, "base64"));
}

#define ANSWER_HEAD "{\"choices\":[{\"message\":{\"content\":\""
#define ANSWER_TAIL "\"},\"finish_reason\":\"stop\"}]}"

/* Images in a block of every size: the turn ends well, or it says how large the
 * block has to be, and the larger one does not do worse. */
static void test_sizes(void)
{
    static const char *const turns[] = {
        ASKS(CALL("one", "0") "," CALL("two", "1")), SAYS("I see.")};
    size_t size, works = 0;
    for (size = 512; size <= 8192; size += 8 * CHECK_EVERY) {
        int error;
        canned = turns;
        block_size = size;
        error = try_start(&tcall_openai, canned_transport());
        if (error == TCALL_OK) {
            size_t high = m.tc.block.high;
            error = say("fire");
            CHECK(m.tc.block.high == high); /* no call holds anything */
        }
        CHECK(error == TCALL_OK || error == TCALL_E_MEMORY);
        CHECK(error == TCALL_OK ? strstr(request, "base64,ZA==") != NULL
                                : !works && m.tc.block.need > size);
        works += error == TCALL_OK;
    }
    CHECK(works > 0);
    block_size = sizeof m.block;
}

/* Writes an answer of so many bytes. */
static void long_answer(char *answer, size_t size, char letter)
{
    memset(answer, letter, size);
    memcpy(answer, ANSWER_HEAD, sizeof ANSWER_HEAD - 1);
    memcpy(answer + size - sizeof ANSWER_TAIL, ANSWER_TAIL, sizeof ANSWER_TAIL);
}

/* An image that the user shows drops the oldest turn where it has to. */
static void test_shown_late(void)
{
    static char one[2000], two[10000];
    static const char *const turns[] = {one, two, SAYS("Three.")};
    size_t low;
    int shown = 0;
    long_answer(one, sizeof one, 'o');
    long_answer(two, sizeof two, 't');
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(say("One?") == TCALL_OK && say("Two?") == TCALL_OK);
    do {
        low = m.tc.block.low;
        CHECK(tcall_agent_show(&m.agent, PNG("foo")) == TCALL_OK);
    } while (m.tc.block.low > low && ++shown < 200);
    CHECK(shown > 0 && shown < 200);
    CHECK(say("What?") == TCALL_OK && !strstr(request, "oooo"));
    CHECK(sent("base64,Zm9v", "What?", "}"));
}

/* A turn is dropped with the images in front of it; those of the next one
 * stay. */
static void test_drop(void)
{
    static char big[3000];
    static const char *const turns[] = {big, SAYS("Fee."), big, big, big, big};
    int i;
    long_answer(big, sizeof big, 'o');
    canned = turns;
    start(&tcall_openai, canned_transport());
    CHECK(tcall_agent_show(&m.agent, PNG("foo")) == TCALL_OK);
    CHECK(tcall_agent_show(&m.agent, PNG("bar")) == TCALL_OK);
    CHECK(say("What?") == TCALL_OK);
    CHECK(tcall_agent_show(&m.agent, PNG("fee")) == TCALL_OK);
    CHECK(say("And now?") == TCALL_OK);
    CHECK(sent("base64,Zm9v", "base64,YmFy", "What?"));
    for (i = 2; i < 6 && strstr(request, "base64,Zm9v"); i++)
        CHECK(say("And then?") == TCALL_OK);
    CHECK(!strstr(request, "base64,Zm9v") && !strstr(request, "base64,YmFy"));
    CHECK(!strstr(request, "What?"));
    CHECK(sent("base64,ZmVl", "And now?", "And then?"));
}

/* A block in which the place of an image has no room. */
static void test_full(void)
{
    static const char *const turns[] = {SAYS("One.")};
    int error = TCALL_OK, shown = 0;
    canned = turns;
    start(&tcall_openai, canned_transport());
    while (shown < 1000 && error == TCALL_OK) {
        error = tcall_agent_show(&m.agent, PNG("foo"));
        shown += error == TCALL_OK;
    }
    CHECK(error == TCALL_E_MEMORY && shown > 100);
}

/* ---- a large one, through a narrow transport ---- */

#define LARGE 50000
static char large[LARGE], arrived[LARGE * 2];
static size_t arrived_len, piece, most;

static int narrow_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    arrived_len = 0;
    CHECK(req->body_len < sizeof arrived);
    most = req->body_len;
    return canned_open(user, req, res);
}

/* Takes so many bytes, then none, in turns. */
static int narrow_write(void *user, const char *bytes, size_t len)
{
    static bool full;
    (void)user;
    full = !full;
    if (full)
        return TCALL_E_AGAIN;
    len = len < piece ? len : piece;
    if (arrived_len + len > sizeof arrived)
        return TCALL_E_CLOSED;
    memcpy(arrived + arrived_len, bytes, len);
    arrived_len += len;
    return (int)len;
}

static void test_narrow(void)
{
    static const char *const turns[] = {SAYS("Large."), SAYS("Large.")};
    static const size_t pieces[] = {4096, 700};
    static char whole[sizeof arrived];
    tcall_transport transport = canned_transport();
    size_t i;
    transport.open = narrow_open;
    transport.write = narrow_write;
    canned = turns;
    for (i = 0; i < LARGE; i++)
        large[i] = (char)(i * i >> 3);
    for (i = 0; i < 2; i++) {
        tcall_str bytes = {large, LARGE};
        piece = pieces[i];
        start(&tcall_ollama, transport);
        CHECK(tcall_agent_show(&m.agent, "image/png", bytes) == TCALL_OK);
        say("What?");
        CHECK(arrived_len == most);
        CHECK(arrived_len > LARGE / 3 * 4);
        if (i == 0)
            memcpy(whole, arrived, arrived_len);
    }
    CHECK(memcmp(whole, arrived, arrived_len) == 0);
    /* Its bytes are not taken for words. */
    CHECK(strstr(arrived, "\"num_ctx\":4096") != NULL);
}

int main(void)
{
    test_base64();
    test_forms();
    test_results();
    test_again();
    test_overwritten();
    test_drop();
    test_saved();
    test_refused();
    test_full();
    test_sizes();
    test_shown_late();
    test_narrow();
    return check_sum("test_images");
}
