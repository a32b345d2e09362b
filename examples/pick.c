/* pick.c - choose the tools that are worth sending to a model for a request,
 * by the words they share with it, and say why:
 *     pick "swich on the lmap in the kitchen" */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <stdio.h>

/* A scorer of our own, which forgives wrong letters: the share of the pairs of
 * letters in a tool's description that the request has too. */
static int by_pairs(void *user, tcall_str input, const tcall_tool *tool,
                    size_t index)
{
    const char *at = tool->description;
    size_t pairs = 0, found = 0, i;
    (void)user;
    (void)index;
    for (; at[0] && at[1]; at++, pairs++)
        for (i = 0; i + 1 < input.len; i++)
            if (at[0] == input.ptr[i] && at[1] == input.ptr[i + 1]) {
                found++;
                break;
            }
    return pairs ? (int)(1000 * found / pairs) : TCALL_E_FAILED;
}

static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    (void)args;
    return tcall_write_text(out, "done");
}

#define NOTHING                        \
    TCALL_JSON({                       \
        "type" : "object",             \
        "properties" : {},             \
        "additionalProperties" : false \
    })

static const tcall_tool tools[] = {
    {.name = "set_lamp",
     .description = "Switch a lamp of the house on or off.",
     .parameters = NOTHING,
     .run = run},
    {.name = "play_music",
     .description = "Play a song, an album or a list of songs.",
     .parameters = NOTHING,
     .run = run},
    {.name = "read_heat",
     .description = "Measure how warm a room of the house is.",
     .parameters = NOTHING,
     .run = run},
    {.name = "send_mail",
     .description = "Send an email to somebody in the contacts.",
     .parameters = NOTHING,
     .run = run}};

int main(int argc, char **argv)
{
    static const tcall_scorer scorers[] = {
        {.name = "words", .weight = 3}, {.name = "pairs", .score = by_pairs}};
    static const tcall_pick_opts opts = {
        .max = 2, .allow_unsafe = true, .scorers = scorers, .scorer_count = 2};
    static char block[8192], text[4096];
    static tcall tc;
    const tcall_desc desc = {.block = block,
                             .block_size = sizeof block,
                             .tools = tools,
                             .tool_count = 4,
                             .allow = TCALL_EVERYTHING};
    tcall_str input = tcall_str_of(argc > 1 ? argv[1] : "swich on the lmap");
    tcall_picked picks[2];
    tcall_pick_report report = {input, &opts, picks, 0};
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    if (tcall_init(&tc, &desc) < 0 ||
        (report.count = tcall_pick(&tc, input, &opts, picks, 2)) < 0 ||
        tcall_write_picks(&w, &tc, &report) < 0)
        return 1;
    puts(text);
    return 0;
}
