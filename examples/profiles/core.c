/* core: tools with shapes, permissions, approval and results in sentences. The
 * line relay {"channels":[1,2],"on":true} is a call; y allows what it shows. */
#define TOOLCALL_NO_INT64
#define TOOLCALL_NO_AGENT
#define TOOLCALL_STATIC
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include "board.h"
TCALL_LIST(channels, integer(1, 4), 1, 4)
#define RELAY(ROW, me)                                             \
    ROW(me, required, list(channels), channels, "Which to switch") \
    ROW(me, required, boolean, on, "On or off")
TCALL_SHAPE(relay, RELAY)
static volatile uint8_t pins;
static char block[1024], name[12], line[256], answer[600];

static int run_relay(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct relay *relay = cx->bound;
    (void)args;
    for (uint16_t i = 0; i < relay->channels.count; i++)
        pins = (uint8_t)(pins | relay->on << relay->channels.items[i]);
    return TCALL_SAY(out, "done");
}

static const tcall_tool tools[] = {
    {.name = "relay",
     .description = "Switch relays of this board on or off",
     .parameters = TCALL_STRUCT(relay),
     .run = run_relay,
     .permissions = TCALL_ACTUATE,
     .confirm = true}};

static tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user;
    board_say(call->arguments.ptr, call->arguments.len);
    board_line(name, sizeof name);
    return *name == 'y' ? TCALL_VERDICT_ALLOW : TCALL_VERDICT_DENY;
}

int main(void)
{
    static tcall tc;
    tcall_writer out;
    tcall_desc desc = {.tools = tools, .tool_count = 1, .approve = approve};
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.allow = TCALL_ACTUATE;
    tcall_init(&tc, &desc);
    for (board_begin(); board_word(name, sizeof name);) {
        tcall_writer_init(&out, answer, sizeof answer);
        board_line(line, sizeof line);
        tcall_execute(&tc, tcall_str_of(name), tcall_str_of(line), &out, NULL);
        board_say(answer, out.fill);
    }
}
