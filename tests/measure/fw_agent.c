/* The whole: an agent with one provider, over a transport that is not there,
 * unless a file that includes this has others. With ALSO there is a second
 * provider, chosen at run time. */
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

int main(void)
{
    static tcall tc;
    static tcall_agent agent;
    const tcall_desc desc = {
        .block = block,
        .block_size = sizeof block,
        .tools = tools,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_WRITE,
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
    return tcall_agent_run(&agent, tcall_str_of("turn the light on"));
}
