/* turn.c - one turn: what a person says, up to the answer; see session.h */
#define _GNU_SOURCE
#include "examples/agent/session.h"

#include "examples/agent/terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- how it ends ---- */

/* The library and the port speak of members; here they are options. */
static const char *const options_of[][2] = {
    {"set insecure_plain_http", "--plain-http"},
    {"model is missing: give the name", "no model is given: --model, or MODEL "
                                        "in the environment, is the name"}};

void session_problem(session *s, const char *text)
{
    for (size_t i = 0; i < TCALL_ARRAY_LEN(options_of); i++) {
        const char *at = strstr(text, options_of[i][0]);
        if (!at)
            continue;
        screen_print(&s->screen, (tcall_str){text, (size_t)(at - text)});
        fputs(options_of[i][1], stderr);
        text = at + strlen(options_of[i][0]);
    }
    screen_print(&s->screen, tcall_str_of(text));
}

static void show_limits(const session *s, int error)
{
    unsigned long need = (unsigned long)s->tc.block.need;

    if (error == TCALL_E_MEMORY)
        fprintf(stderr, ": %lu bytes would do; start with --memory %luM", need,
                need / 1024 / 1024 + 1);
    if (error == TCALL_E_LIMIT &&
        s->agent.turn.rounds >= s->agent.desc.max_rounds)
        fprintf(stderr, ": %d requests (--max-rounds allows more)",
                s->agent.desc.max_rounds);
}

/* Why a turn ended badly, in words. */
static void show_error(session *s, int error)
{
    const tcall_response *response = &s->agent.response;
    const char *said = s->agent.answer.message; /* a server's words */
    bool network = error <= TCALL_E_RESOLVE && error >= TCALL_E_PROTOCOL;

    if (error == TCALL_E_CANCELLED) {
        fputs("Stopped.\n", stderr);
        return;
    }
    fprintf(stderr, "error: %s", tcall_error_text(error));
    if (network && *tport_error(&s->port))
        said = tport_error(&s->port);
    if (*said)
        fprintf(stderr, ": ");
    session_problem(s, said);
    if (response->status >= 300)
        fprintf(stderr, " (HTTP status %d)", response->status);
    if (response->retry_after_ms > 0)
        fprintf(stderr, ", try again in %ld s",
                (response->retry_after_ms + 999) / 1000);
    show_limits(s, error);
    fputc('\n', stderr);
}

/* ---- the conversation ---- */

tcall_str session_bytes(const session *s)
{
    tcall_writer w;
    char *bytes;

    tcall_writer_init(&w, NULL, 0); /* counts them */
    tcall_agent_save(&s->agent, &w);
    bytes = malloc(w.len + 1);
    tcall_writer_init(&w, bytes, bytes ? w.len + 1 : 0);
    tcall_agent_save(&s->agent, &w);
    return (tcall_str){bytes, w.fill};
}

static int turns_kept(const session *s)
{
    tcall_item item;
    size_t at = 0;
    int count = 0;

    while (tcall_chat_next(&s->agent.chat, &at, &item))
        count += item.kind == TCALL_ITEM_USER;
    return count;
}

/* Says once that the start of the conversation is gone. */
static void show_forgotten(session *s, int kept)
{
    if (s->forgot || turns_kept(s) >= kept)
        return;
    s->forgot = true;
    screen_line(&s->screen);
    screen_note(&s->screen,
                "The oldest part of the conversation was dropped: it did not "
                "fit into %lu bytes\n(--memory gives more).\n",
                (unsigned long)s->options.memory_size);
}

/* ---- the limit ---- */

/* The next request is the last one that the turn may make, though the model
 * wants to go on. Returns whether it may. */
static bool ask_for_more(session *s)
{
    const int limit = s->agent.desc.max_rounds;
    char question[160];

    screen_line(&s->screen);
    if (!s->approval.person) {
        screen_note(&s->screen,
                    "  limit    %d requests a turn: the next one has to be the "
                    "last.\n           --max-rounds allows more.\n",
                    limit);
        return false;
    }
    snprintf(question, sizeof question,
             "  limit    This turn has made %d of %d requests. Go on for %d "
             "more?\n           (--max-rounds sets the limit) [y, n; default "
             "n] ",
             limit - 1, limit, s->options.max_rounds);
    return typing_choice(&s->typed, question, "yn") == 'y';
}

/* Is it the limit that ends what is under way? */
static bool is_at_limit(const session *s)
{
    const tcall_turn *turn = &s->agent.turn;

    return turn->rounds > 0 && s->agent.answer.calls > 0 &&
           turn->rounds + 1 >= s->agent.desc.max_rounds;
}

static int run(session *s, tcall_str text)
{
    int kept = turns_kept(s) + (text.ptr != NULL), r = TCALL_E_AGAIN;
    bool asked = false, plan = s->agent.turn.plan; /* loaded: it is dropped */

    s->agent.desc.max_rounds = s->options.max_rounds;
    if (text.ptr && (r = tcall_agent_say(&s->agent, text)) == TCALL_OK)
        r = TCALL_E_AGAIN;
    if (r == TCALL_E_AGAIN && !plan)
        show_forgotten(s, kept);
    kept = turns_kept(s);
    while (r == TCALL_E_AGAIN) {
        r = tcall_agent_step(&s->agent);
        if (r == TCALL_E_AGAIN && !asked && is_at_limit(s)) {
            asked = !ask_for_more(s);
            s->agent.desc.max_rounds += asked ? 0 : s->options.max_rounds;
        }
        if (r == TCALL_E_AGAIN)
            tcall_agent_wait(&s->agent);
    }
    show_forgotten(s, kept - (r < 0)); /* a question may be taken back */
    return r;
}

/* ---- Ctrl-C ---- */

static session *under_way;

static void on_interrupt(int number)
{
    (void)number;
    typing_interrupted = 1;
    tcall_agent_cancel(&under_way->agent);
}

/* Ctrl-C ends the turn, not the program. Without SA_RESTART it also ends what
 * waits for an answer to a question. */
bool session_turn(session *s, tcall_str text)
{
    struct sigaction own, before;
    int r;

    memset(&own, 0, sizeof own);
    own.sa_handler = on_interrupt;
    typing_interrupted = 0;
    under_way = s;
    sigaction(SIGINT, &own, &before);
    terminal_hide();
    r = run(s, text);
    sigaction(SIGINT, &before, NULL);
    clearerr(stdin);
    screen_line(&s->screen);
    if (r < 0)
        show_error(s, r);
    fflush(stdout);
    return r == TCALL_OK;
}
