/* check: the smallest profile. A line relay {"channels":[1,2],"on":true} is a
 * call: the tool is found, its arguments are checked into a struct, it runs.
 * The answer is 0, or a code and the path of what is wrong: 3 /0/1 */
#define TOOLCALL_NO_INT64
#define TOOLCALL_STATIC
#define TOOLCALL_MAX_FAULTS  1
#define TOOLCALL_MISFIT_TEXT 0
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include "board.h"
#define TIMER(ROW, me)                                             \
    ROW(me, required, integer(1, 3600), seconds, "When to let go") \
    ROW(me, optional, or_null(text(1, 12)), label, "Shown meanwhile")
TCALL_SHAPE(timer, TIMER)
TCALL_LIST(channels, integer(1, 4), 1, 4)
#define RELAY(ROW, me)                                             \
    ROW(me, required, list(channels), channels, "Which to switch") \
    ROW(me, required, boolean, on, "On or off")                    \
    ROW(me, optional, object(timer), timer, "For a while")
TCALL_SHAPE(relay, RELAY)

static struct relay relay;
static volatile uint8_t pins;
static void run_relay(void)
{
    for (uint16_t i = 0; i < relay.channels.count; i++)
        pins = (uint8_t)(pins | relay.on << relay.channels.items[i]);
}

static const struct tool {
    const char *name;
    const tcall_object *shape;
    void *args;
    void (*run)(void);
} tools[] = {{"relay", &relay_shape, &relay, run_relay}};

static void answer(const tcall_misfit *misfit, int error)
{
    board_number((unsigned)(error == TCALL_E_INVALID ? misfit->code : -error));
    board_path(misfit->trail, misfit->steps);
    board_put('\n');
}

int main(void)
{
    tcall_decoder call;
    char name[12], c;
    for (board_begin(); board_word(name, sizeof name);) {
        const struct tool *tool = tools + sizeof tools / sizeof *tools - 1;
        while (tool > tools && strcmp(tool->name, name) != 0)
            tool--;
        tcall_decoder_init(&call, tool->shape, tool->args);
        if (strcmp(tool->name, name) != 0)
            tcall_decoder_poison(&call);
        while ((c = (char)board_get()) != '\n')
            tcall_decoder_feed(&call, &c, 1);
        if (tcall_decoder_end(&call) == TCALL_OK)
            tool->run();
        answer(call.misfits, call.error);
    }
}
