/* Instructions of tcall_pick on a Cortex-M, for QEMU's mps2-an386 with -icount
 * shift=0: the timer runs at 25 MHz of a clock of 1 ns an instruction. */
#include <stdio.h>
#include "toolcall.h"

#define TIMER ((volatile uint32_t *)0x40000000)

static tcall_tool tools[64];
static char names[64][32], block[8192];

static const char *const things[] = {"lamp",    "valve", "motor", "sensor",
                                     "display", "relay", "pump",  "heater"};
static const char *const verbs[] = {"read",  "switch", "measure", "configure",
                                    "start", "stop",   "list",    "calibrate"};

/* 40 instructions a tick. */
static unsigned long ask(tcall *tc, size_t count, const char *input)
{
    tcall_picked picks[3];
    uint32_t start;
    tc->desc.tool_count = count;
    start = TIMER[1];
    if (tcall_pick(tc, tcall_str_of(input), NULL, picks, 3) < 1)
        printf("nothing was picked\n");
    return (unsigned long)(start - TIMER[1]) * 40;
}

static void show(tcall *tc, const char *what)
{
    static const char *const inputs[] = {
        "please switch off the pump in the garden",
        "I would like to know how warm the water of the heater is right now, "
        "and then calibrate the second sensor beside the display"};
    size_t i;
    for (i = 0; i < 2; i++) {
        unsigned long few = ask(tc, 32, inputs[i]);
        unsigned long each = (ask(tc, 64, inputs[i]) - few) / 32;
        printf("%s, %s input: %lu a tool, %lu a query\n", what,
               i ? "long" : "short", each, few - 32 * each);
    }
}

int main(void)
{
    tcall tc;
    size_t i;
    TIMER[2] = TIMER[1] = 0xFFFFFFFFu;
    TIMER[0] = 1;
    for (i = 0; i < 64; i++) {
        snprintf(names[i], sizeof names[i], "%s_%s", verbs[i % 8],
                 things[i / 8]);
        tools[i].name = names[i];
        tools[i].description =
            "Does what its name says and tells the new state of the device.";
        tools[i].permissions = TCALL_READ;
    }
    memset(&tc, 0, sizeof tc);
    tc.desc.tools = tools;
    tc.desc.allow = TCALL_READ;
    tcall_block_init(&tc.block, block, sizeof block);
    show(&tc, "75 bytes of text");
    for (i = 0; i < 64; i++)
        tools[i].parameters = tcall_schema_text_of(TCALL_TEXT({
            "type" : "object",
            "properties" : {
                "channel" :
                    {"type" : "integer", "description" : "Output, 1 to 8."},
                "level" : {"type" : "number", "description" : "In percent."}
            },
            "required" : ["channel"]
        }));
    printf("schema: %u bytes\n", (unsigned)strlen(tools[0].parameters.text));
    show(&tc, "with a schema");
    return 0;
}
