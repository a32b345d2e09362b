/* Needs: AGENT. */
/* Another provider, model or path between turns: the conversation goes on. */
#include "canned.h"
#include "check.h"

#define GEMINI_SAYS(text)                                            \
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{" \
    "\"text\":\"" text "\"}]},\"finishReason\":\"STOP\"}]}"

static tcall tc;
static tcall_agent agent;

static tcall_agent_desc start(char *block, size_t size)
{
    tcall_desc desc;
    tcall_agent_desc made;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.report = &tcall_report;
    desc.block_size = size;
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    memset(&made, 0, sizeof made);
    made.tc = &tc;
    made.provider = &tcall_openai;
    made.model = "first";
    made.transport = canned_transport();
    return made;
}

static bool run(const char *text, const char *answer)
{
    return tcall_agent_run(&agent, tcall_str_of(text)) == TCALL_OK &&
           tcall_str_eq(tcall_agent_text(&agent), tcall_str_of(answer));
}

static void test_switch(void)
{
    static const char *const turns[] = {SAYS("One."), GEMINI_SAYS("Two."),
                                        GEMINI_SAYS("Three."), SAYS("Four.")};
    static char block[8192];
    tcall_agent_desc desc = start(block, sizeof block);
    size_t begin, low;
    canned = turns;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK && run("a", "One."));
    CHECK(strcmp(request_path, tcall_openai.path) == 0);
    begin = agent.chat.start;
    low = tc.block.low;
    desc.provider = &tcall_gemini;
    desc.model = "second";
    desc.key = "its key";
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK && run("b", "Two."));
    CHECK(strcmp(tc.key, "its key") == 0); /* that is what records hide */
    CHECK(strstr(request_path, "/second:generateContent") != NULL);
    CHECK(strstr(request, "One.") && strstr(request, "\"b\""));
    desc.model = "a-third-one-with-a-rather-long-name";
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK && run("c", "Three."));
    CHECK(strstr(request_path, "/a-third-one-with-a-rather-long-name:"));
    CHECK(strstr(request, "One.") && strstr(request, "Two."));
    desc.provider = &tcall_openai;
    desc.path = "/mine";
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK && run("d", "Four."));
    CHECK(strcmp(request_path, "/mine") == 0 && strstr(request, "Three."));
    /* The room of the paths is free again. */
    CHECK(agent.chat.start == begin && tc.block.low < low + 4 * (low - begin));
}

/* What is refused changes nothing. */
static void test_refused(void)
{
    static const char *const turns[] = {SAYS("One."), SAYS("Two.")};
    static char block[8192];
    tcall_agent_desc desc = start(block, sizeof block), other = desc;
    static tcall elsewhere;
    canned = turns;
    memset(&agent, 0, sizeof agent);
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_E_USAGE);
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    other.model = NULL;
    CHECK(tcall_agent_use(&agent, &other) == TCALL_E_USAGE);
    CHECK(agent.problem && strstr(agent.problem, "model"));
    other = desc;
    other.tc = &elsewhere;
    CHECK(tcall_agent_use(&agent, &other) == TCALL_E_USAGE);
    CHECK(agent.problem && strstr(agent.problem, "tc"));
    CHECK(run("a", "One."));
    CHECK(tcall_agent_say(&agent, tcall_str_of("b")) == TCALL_OK);
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_E_USAGE);
    while (tcall_agent_step(&agent) == TCALL_E_AGAIN)
        continue;
    CHECK(tcall_str_eq(tcall_agent_text(&agent), tcall_str_of("Two.")));
}

/* A path has room in front of the io, of which one byte has to be left. */
static void test_path(void)
{
    static const char *const turns[] = {SAYS("One."), GEMINI_SAYS("Two."),
                                        GEMINI_SAYS("Three.")};
    static char block[8192], model[250];
    tcall_agent_desc desc = start(block, sizeof block);
    size_t len, most = 0;
    canned = turns;
    desc.io_size = 200;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK && run("a", "One."));
    memset(model, 'm', sizeof model);
    desc.provider = &tcall_gemini;
    desc.model = model;
    for (len = 1; len < sizeof model; len++) {
        int r;
        model[len] = '\0';
        r = tcall_agent_use(&agent, &desc);
        CHECK(r == TCALL_OK ||
              (r == TCALL_E_USAGE && most && strstr(agent.problem, "io_size")));
        if (r == TCALL_OK)
            most = len;
        model[len] = 'm';
    }
    /* what was refused last has changed nothing */
    model[most] = '\0';
    CHECK(run("b", "Two.") && strstr(request, "One."));
    CHECK(strlen(request_path) == 198);
    desc = start(block, sizeof block);
    desc.provider = &tcall_gemini;
    desc.model = model;
    desc.io_size = 1; /* besides the path */
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK && run("c", "Three."));
}

/* Whether a block holds so many calls more than at first; it is rounded to 8.
 */
static bool holds(size_t first, size_t calls)
{
    const size_t more = tc.block.low - first, room = calls * sizeof(tcall_call);
    return more + 8 > room && more < room + 8;
}

/* Calls side by side have their room from the start. */
static void test_parallel(void)
{
    static char block[12288];
    tcall_agent_desc desc = start(block, sizeof block);
    size_t one;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(agent.desc.parallel == 1);
    one = tc.block.low;
    desc = start(block, sizeof block);
    desc.parallel = 3;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(holds(one, 2));
    desc.parallel = 5;
    CHECK(tcall_agent_use(&agent, &desc) == TCALL_OK);
    CHECK(agent.desc.parallel == 3);
    desc = start(block, sizeof block);
    desc.parallel = 1000;
    CHECK(tcall_agent_init(&agent, &desc) == TCALL_OK);
    CHECK(agent.desc.parallel == TCALL_AGENT_CALLS);
    CHECK(holds(one, TCALL_AGENT_CALLS - 1));
}

int main(void)
{
    test_switch();
    test_refused();
    test_path();
    test_parallel();
    return check_sum("test_use");
}
