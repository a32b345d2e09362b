/* The core with the whole lifecycle: every ready-made hook, output that is
 * checked, an approval that comes later. */
#include "fw_tool.h"

static char block[4096];
static char arguments[256] = "{\"on\": true}"; /* as if received */
static char result[256], kept[512];

static uint32_t now_ms(void *user)
{
    static volatile uint32_t ticks;

    (void)user;
    return ticks;
}

static int uart(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static tcall_rate rate = {.burst = 3, .interval_ms = 1000};
static tcall_concurrency limit = {.max = 1};
static tcall_cache cache = {.memory = kept, .size = sizeof kept};
static tcall_backoff retry = {.attempts = 3, .first_ms = 100};
static tcall_audit audit = {.sink = uart};
static tcall_ledger_row tickets[8];
static tcall_ledger ledger = {.rows = tickets,
                              .count = TCALL_ARRAY_LEN(tickets)};
static tcall_loops loops;

static const tcall_hook hooks[] = {
    TCALL_RATE(&rate),   TCALL_CONCURRENCY(&limit), TCALL_CACHE(&cache),
    TCALL_RETRY(&retry), TCALL_TIMEOUT(5000),       TCALL_AUDIT(&audit),
    TCALL_LOOPS(&loops), TCALL_LEDGER(&ledger),
};

int main(void)
{
    static tcall tc;
    static tcall_call call;
    static tcall_tool checked[TCALL_ARRAY_LEN(tools)];
    const tcall_desc desc = {
        .lenient = &tcall_lenient,
        .patterns = &tcall_patterns,
        .block = block,
        .block_size = sizeof block,
        .tools = checked,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_WRITE,
        .now_ms = now_ms,
        .hooks = hooks,
        .hook_count = TCALL_ARRAY_LEN(hooks),
        .stages = &tcall_stages,
    };
    tcall_writer out;

    checked[0] = tools[0];
    checked[0].output = tcall_schema_text_of("{\"type\":\"string\"}");
    if (tcall_init(&tc, &desc) < 0)
        return 1;
    tcall_writer_init(&out, result, sizeof result);
    call.id = tcall_str_of("1");
    call.name = tcall_str_of("set_led");
    call.arguments = tcall_str_of(arguments);
    tcall_hydrate(&tc, &call);
    if (tcall_invoke(&tc, &call, &out) == TCALL_E_APPROVAL)
        tcall_ledger_decide(&ledger, tcall_call_key(&tc, &call),
                            tcall_call_what(&tc, &call), TCALL_VERDICT_ALLOW);
    return tcall_invoke(&tc, &call, &out);
}
