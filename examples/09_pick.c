/* 09_pick.c - choose the tools that are worth sending for a request, by the
 * words they share with it; a scorer of our own forgives wrong letters.
 *     cc -I. examples/09_pick.c -o 09_pick && ./09_pick "swich on the lmap" */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
#include <stdio.h>

/* The share of the pairs of letters in a description that the request has. */
static int by_pairs(void *user, tcall_str input, const tcall_tool *tool,
                    size_t index)
{
    const char *at = tool->description;
    size_t pairs = 0, found = 0, i;
    (void)user, (void)index;
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
    (void)cx, (void)args;
    return tcall_write_text(out, "done");
}

#define NONE .parameters = TCALL_NO_PARAMETERS, .run = run
static const tcall_tool tools[] = {
    {"set_lamp", .description = "Switch a lamp of the house on or off.", NONE},
    {"play_music", .description = "Play a song or an album of songs.", NONE},
    {"read_heat", .description = "Measure how warm a room is.", NONE},
    {"send_mail", .description = "Send an email to somebody.", NONE}};

int main(int argc, char **argv)
{
    static const tcall_scorer scorers[] = {
        {.name = "words", .weight = 3}, {.name = "pairs", .score = by_pairs}};
    static const tcall_pick_opts opts = {.max = 2,
                                         .allow_unsafe = true,
                                         .synonyms = tcall_synonyms,
                                         .scorers = scorers,
                                         .scorer_count = 2};
    static char block[8192], text[4096];
    static tcall tc;
    tcall_str input = tcall_str_of(argc > 1 ? argv[1] : "swich on the lmap");
    tcall_picked picks[2];
    tcall_pick_report report = {input, &opts, picks, 0};
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text - 1);
    return tcall_init(&tc, &(tcall_desc){block, sizeof block, tools, 4,
                                         &tcall_lenient, &tcall_report,
                                         .allow = TCALL_EVERYTHING}) < 0 ||
           (report.count = tcall_pick(&tc, input, &opts, picks, 2)) < 0 ||
           tcall_write_picks(&w, &tc, &report) < 0 || puts(text) < 0;
}
