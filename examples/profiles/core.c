/* core: a registry of tools that have shapes, with permissions, approval and
 * results in sentences. A line relay {"channels":[1,2],"on":true} is a call;
 * the answer is a line, too. What moves something asks first: y allows it. */
#define TOOLCALL_NO_SCHEMA
#define TOOLCALL_NO_REPORT
#define TOOLCALL_NO_HOOKS
#define TOOLCALL_NO_BIND
#define TOOLCALL_NO_INT64
#define TOOLCALL_NO_AGENT
#define TOOLCALL_STATIC
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include "board.h"

TCALL_LIST(channels, integer(1, 4), 1, 4)
#define RELAY(ROW, me)                                             \
    ROW(me, required, list(channels), channels, "Which to switch") \
    ROW(me, required, boolean, on, "On or off")                    \
    ROW(me, defaults(60), integer(1, 3600), seconds, "When to let go")
TCALL_SHAPE(relay, RELAY)

static volatile uint8_t pins;

static int run_relay(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct relay *relay = cx->bound;
    (void)args;
    for (uint16_t i = 0; i < relay->channels.count; i++)
        pins = (uint8_t)(pins | relay->on << relay->channels.items[i]);
    return TCALL_SAY(out, "done");
}

static const tcall_tool tools[] = {{.name = "relay",
                                    .shape = &relay_shape,
                                    .run = run_relay,
                                    .permissions = TCALL_ACTUATE,
                                    .confirm = true}};

static tcall_verdict approve(void *user, const tcall_call *call)
{
    char word[2];
    (void)user;
    board_say(call->arguments.ptr, call->arguments.len);
    board_line(word, sizeof word);
    return *word == 'y' ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_DENY;
}

int main(void)
{
    static char block[1024], name[12], line[256], answer[600];
    static tcall tc;
    tcall_writer out;
    tcall_desc desc = {.block = block, .tools = tools, .tool_count = 1};
    desc.block_size = sizeof block;
    desc.allow = TCALL_ACTUATE;
    desc.approve = approve;
    if (tcall_init(&tc, &desc) < 0)
        return 1;
    for (board_begin(); board_word(name, sizeof name);) {
        tcall_writer_init(&out, answer, sizeof answer);
        board_line(line, sizeof line);
        tcall_execute(&tc, tcall_str_of(name), tcall_str_of(line), &out);
        board_say(answer, out.fill);
    }
    return 0;
}
