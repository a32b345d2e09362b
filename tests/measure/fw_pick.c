/* JSON, a schema, and picking: a text is read and checked, then the tools for
 * it are picked by the built-in scorer, with its synonyms. */
#define main check_schema
#include "fw_schema.c"
#undef main

static char block[4096];

int main(void)
{
    static tcall tc;
    static const tcall_tool tools[] = {
        {.name = "read_light",
         .description = "Measure how bright it is.",
         .permissions = TCALL_READ},
        {.name = "read_heat",
         .description = "Measure how warm it is.",
         .permissions = TCALL_READ},
    };
    const tcall_desc desc = {
        .block = block,
        .block_size = sizeof block,
        .tools = tools,
        .tool_count = TCALL_ARRAY_LEN(tools),
        .allow = TCALL_READ,
    };
    const tcall_pick_opts opts = {.synonyms = tcall_synonyms};
    tcall_picked picks[3];

    if (check_schema() < 0 || tcall_init(&tc, &desc) < 0)
        return 1;
    return tcall_pick(&tc, tcall_str_of(text), &opts, picks,
                      TCALL_ARRAY_LEN(picks));
}
