/* The whole: an agent with one provider, over a transport that is not there,
 * unless a file that includes this has others. With ALSO there is a second
 * provider, chosen at run time; with USE_SAVE, USE_LEDGER or USE_PLAN what a
 * program has to call for that. */
#include "fw_tool.h"

#ifndef PROVIDER
#define PROVIDER &tcall_openai
#endif

#ifndef TRANSPORT
static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    (void)user;
    (void)req;
    res->status = 200;
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    (void)user;
    (void)bytes;
    (void)cap;
    return 0;
}

static void net_close(void *user)
{
    (void)user;
}

#define TRANSPORT                                               \
    {                                                           \
        .open = net_open, .write = net_write, .read = net_read, \
        .close = net_close                                      \
    }
#endif

static char block[8192];

#if defined USE_SAVE

/* The conversation through a power cut. */
static int use(tcall_agent *agent)
{
    static char bytes[2048];
    tcall_writer out;
    tcall_str saved = {bytes, 0};
    tcall_writer_init(&out, bytes, sizeof bytes);
    if (tcall_agent_save(agent, &out) < 0)
        return 1;
    saved.len = out.fill;
    return tcall_agent_load(agent, saved);
}

#elif defined USE_PLAN

/* Calls that the program answers itself. */
static int use(tcall_agent *agent)
{
    tcall_call call;
    if (tcall_agent_plan(agent, tcall_str_of("plan"), NULL, 0) < 1 ||
        tcall_agent_call(agent, 0, &call) < 0)
        return 1;
    return tcall_agent_result(agent, &call, tcall_str_of("done"), false);
}

#elif defined USE_LEDGER

/* Approvals that come later. */
static tcall_ledger_row rows[4];
static tcall_ledger ledger = {rows, TCALL_ARRAY_LEN(rows)};
static const tcall_hook hooks[] = {TCALL_LEDGER(&ledger)};

static int use(tcall_agent *agent)
{
    (void)agent;
    return tcall_ledger_decide(&ledger, led, led, TCALL_VERDICT_ALLOW);
}

#else

static int use(tcall_agent *agent)
{
    (void)agent;
    return 0;
}

#endif

int main(void)
{
    static tcall tc;
    static tcall_agent agent;
    const tcall_desc desc = {
        .lenient = &tcall_lenient,
        .patterns = &tcall_patterns,
        .block = block,
        .block_size = sizeof block,
        .tools = tools,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_WRITE,
#ifdef USE_LEDGER
        .hooks = hooks,
        .hook_count = TCALL_ARRAY_LEN(hooks),
        .stages = &tcall_stages,
#endif
    };
    tcall_agent_desc agent_desc = {
        .tc = &tc,
        .provider = PROVIDER,
        .model = "some-model",
        .key = "secret",
        .transport = TRANSPORT,
    };

#ifdef ALSO
    if (led)
        agent_desc.provider = &ALSO;
#endif
    if (tcall_init(&tc, &desc) < 0 || tcall_agent_init(&agent, &agent_desc) < 0)
        return 1;
    if (led && use(&agent) < 0)
        return 1;
    return tcall_agent_run(&agent, tcall_str_of("turn the light on"));
}
