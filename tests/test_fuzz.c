/* Turns of an agent that nobody has thought of: random answers, hooks, repairs,
 * approvals, cancels, faults of the network, saving and loading, plans,
 * streams, picks, secrets, other providers, ids that repeat, calls of one's own
 * released at any time, and every public function from inside of every function
 * that the library calls, in a block of any size that ends at a page nobody may
 * touch.
 *
 *     build/test_fuzz [TURNS [SEED]]
 *
 * A finding prints the seed of its agent's life; with it, and 1, it comes
 * again. tests/matrix has it with sanitizers, and what the block gets back
 * overwritten: EXTRA='-include tests/freed.h' CFLAGS='-O1 -g
 * -fsanitize=address,undefined'. */
#define _DEFAULT_SOURCE
#include "toolcall.h"

#include "check.h"
#include "formats.h"
#include <sys/mman.h>
#include <unistd.h>

/* ---- chance ---- */

static uint64_t state, life_seed;

static uint32_t chance(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)(state >> 33) % below : 0;
}

static bool once_in(uint32_t times)
{
    return chance(times) == 0;
}

#define FINDING(what)                                               \
    do {                                                            \
        if (!(what) && check_failed++ < 20)                         \
            printf("test_fuzz: seed %llu: line %d: %s\n",           \
                   (unsigned long long)life_seed, __LINE__, #what); \
    } while (0)

/* ---- what is counted in a life ---- */

static tcall tc;
static tcall_agent agent;
static tcall_agent_desc desc;
static tcall_desc first; /* as tcall_init got it */

static struct {
    unsigned turns, plans, calls, runs, waits, approvals, repaired, saved;
    unsigned secrets, failed, inside, refused, own, looked;
} total;
static struct {
    int begun, ended, asked, decided, turns, turn_ends;
    uint32_t calls;
    uint64_t waiting, what; /* of the call that was asked for last */
    int serial, n;          /* and its number, and what it asks for */
} told;
static uint32_t clock_ms;

static uint32_t now(void *user)
{
    (void)user;
    return clock_ms;
}

static tcall_str slice(const char *bytes, size_t len)
{
    tcall_str text;
    text.ptr = bytes;
    text.len = len;
    return text;
}

/* Returns whether a text is one JSON value. */
static bool is_json(tcall_str text)
{
    static char copy[1 << 16];
    tcall_json value;
    if (!text.len)
        return false;
    if (text.len >= sizeof copy)
        return true;
    memcpy(copy, text.ptr, text.len);
    return tcall_json_parse(&value, copy, text.len, NULL) >= 0;
}

/* A secret that a hook gives to the tool, and to nobody else. */
#define SECRET "hunter2hunter2"

static void check_secret(tcall_str text)
{
    size_t len = sizeof SECRET - 1, at;
    for (at = 0; at + len <= text.len; at++)
        FINDING(text.ptr[at] != 'h' || memcmp(text.ptr + at, SECRET, len) != 0);
}

/* ---- what each call may do, by the number that the server gave it ---- */

enum { SERIALS = 1 << 12 };
static struct {
    int8_t allowed; /* the n that a person has agreed to, and 1 */
    bool done;      /* the tool has ended once */
} numbered[SERIALS];
static int serial;

static int number_of(tcall_json args, const char *name)
{
    return tcall_json_int(tcall_json_get(args, name), -1);
}

static void allow(const tcall_call *call)
{
    int k = number_of(call->asked->args, "k");
    if (k >= 0)
        numbered[k].allowed = (int8_t)(number_of(call->asked->args, "n") + 1);
}

/* ---- from inside ---- */

static int depth;    /* functions of ours at work, each called by the library */
static bool working; /* the agent is at work */
static bool said;    /* a listener of TURN_END began the next turn */
static tcall_listener more;
static uint32_t added;
static const tcall_tool tools[5];

static size_t touch(tcall_str text)
{
    size_t i, sum = 0;
    for (i = 0; i < text.len; i++)
        sum += (uint8_t)text.ptr[i];
    return sum;
}

/* Reads all that there is of the conversation. */
static void look(void)
{
    tcall_item item;
    size_t at = 0, sum = touch(tcall_agent_text(&agent));
    int open = 0;
    while (tcall_chat_next(&agent.chat, &at, &item)) {
        sum += touch(item.id) + touch(item.name) + touch(item.signature);
        sum += item.kind == TCALL_ITEM_IMAGE ? 0 : touch(item.text);
        open += item.kind == TCALL_ITEM_CALL;
        open -= item.kind == TCALL_ITEM_RESULT;
        FINDING(open >= 0);
    }
    total.looked += sum > 0;
    tcall_peak(&tc);
    tcall_need(&tc.desc, chance(500));
    tcall_agent_need(&tc.desc, &desc, chance(500));
    tcall_find(&tc, tcall_str_of("look"));
}

/* Saves, and looks whether somebody else can go on with it. */
static void keep(void)
{
    static char bytes[1 << 16], other_block[1 << 16];
    static tcall other;
    static tcall_agent reader;
    tcall_desc plain;
    tcall_agent_desc its;
    tcall_writer out;
    tcall_item item;
    size_t at = 0;
    int r, open = 0;
    tcall_writer_init(&out, bytes, sizeof bytes);
    r = tcall_agent_save(&agent, &out);
    FINDING(r == TCALL_OK);
    if (r < 0)
        return;
    memset(&plain, 0, sizeof plain);
    plain.block = other_block;
    plain.lenient = &tcall_lenient;
    plain.block_size = sizeof other_block;
    plain.tools = first.tools;
    plain.tool_count = first.tool_count;
    plain.allow = first.allow;
    its = desc;
    its.tc = &other;
    memset(other_block, 0xA5, sizeof other_block);
    FINDING(tcall_init(&other, &plain) == TCALL_OK);
    FINDING(tcall_agent_init(&reader, &its) == TCALL_OK);
    r = tcall_agent_load(&reader, slice(bytes, out.fill));
    FINDING(r == TCALL_OK || r == TCALL_E_AGAIN);
    if (r < 0 && r != TCALL_E_AGAIN)
        return;
    while (tcall_chat_next(&reader.chat, &at, &item)) {
        check_secret(item.text);
        open += item.kind == TCALL_ITEM_CALL;
        open -= item.kind == TCALL_ITEM_RESULT;
        FINDING(open >= 0);
    }
    FINDING(!open || r == TCALL_E_AGAIN || reader.turn.plan);
}

/* Functions that answer TCALL_E_USAGE while the agent is at work. */
static int misuse(uint32_t which)
{
    tcall_agent_desc its = desc;
    tcall_desc again = first;
    tcall_call call;
    switch (which) {
    case 0: return tcall_agent_say(&agent, tcall_str_of("x"));
    case 1: return tcall_agent_step(&agent);
    case 2: return tcall_agent_run(&agent, tcall_str_of("x"));
    case 3: return tcall_agent_plan(&agent, tcall_str_of("x"), NULL, 0);
    case 4: return tcall_agent_use(&agent, &its);
    case 5: return tcall_agent_load(&agent, tcall_str_of("tcall"));
    case 6: return tcall_agent_show(&agent, "image/png", tcall_str_of("x"));
    case 7: return tcall_agent_init(&agent, &its);
    case 8: return tcall_init(&tc, &again);
    case 9:
        memset(&call, 0, sizeof call);
        return tcall_agent_result(&agent, &call, tcall_str_of("x"), false);
    default:
        memset(&call, 0, sizeof call);
        return tcall_agent_call(&agent, 0, &call);
    }
}

static void call_some(void);

/* A tool that is added or removed. */
static void change_tools(void)
{
    tcall_tool late = tools[chance(3)];
    static char name[] = "late0";
    name[4] = (char)('0' + added % 2);
    late.name = name;
    if (once_in(2))
        added += tcall_add(&tc, &late) == TCALL_OK;
    else
        tcall_remove(&tc, tcall_str_of(once_in(2) ? name : "change"));
}

/* Calls something of the library from inside of what it has called: for the
 * call at hand, if it is about one. */
static void inside(const tcall_call *at, bool over)
{
    tcall_picked picks[2];
    if (depth > 1 || !once_in(12))
        return;
    depth++;
    total.inside++;
    switch (chance(9)) {
    case 0: look(); break;
    case 1:
        if (once_in(3))
            keep();
        break;
    case 2:
    case 3:
        if (working && !over) {
            int r = misuse(chance(11));
            FINDING(r == TCALL_E_USAGE);
            total.refused += r == TCALL_E_USAGE;
        }
        break;
    case 4:
        if (once_in(10))
            tcall_agent_cancel(&agent);
        break;
    case 5: change_tools(); break;
    case 6: call_some(); break;
    case 7:
        if (once_in(2))
            tcall_subscribe(&tc, &more);
        else
            tcall_unsubscribe(&tc, &more);
        tcall_pick(&tc, tcall_str_of("look"), NULL, picks, 2);
        break;
    default:
        if (at)
            FINDING(tcall_release(&tc, (tcall_call *)(uintptr_t)at) ==
                    TCALL_E_USAGE);
        break;
    }
    depth--;
}

static void hear(void *user, const tcall_event *event)
{
    static char room[1 << 14];
    tcall_writer out;
    (void)user;
    check_secret(event->text);
    if (event->call)
        check_secret(event->call->arguments);
    if (user == &more) { /* only to be there, and to call from */
        inside(event->call, event->kind == TCALL_EVENT_TURN_END);
        return;
    }
    told.begun += event->kind == TCALL_EVENT_START;
    told.turns += event->kind == TCALL_EVENT_TURN;
    told.turn_ends += event->kind == TCALL_EVENT_TURN_END;
    told.asked += event->kind == TCALL_EVENT_APPROVAL;
    told.decided += event->kind == TCALL_EVENT_VERDICT;
    if (event->kind == TCALL_EVENT_APPROVAL) {
        told.waiting = tcall_call_key(event->call->cx.tc, event->call);
        told.what = tcall_call_what(event->call->cx.tc, event->call);
        told.serial = number_of(event->call->asked->args, "k");
        told.n = number_of(event->call->asked->args, "n");
    }
    if (event->kind == TCALL_EVENT_END) {
        told.ended++;
        FINDING(event->error >= 0 || !event->text.len || is_json(event->text));
        if (getenv("SHOW") && event->error < 0 && !is_json(event->text))
            printf("%s %d: %.*s\n", event->call->turn ? "agent" : "own",
                   event->error, (int)event->text.len, event->text.ptr);
        FINDING(event->error == event->call->cx.failure.error);
    }
    if (event->kind == TCALL_EVENT_END || event->kind == TCALL_EVENT_HYDRATED) {
        tcall_writer_init(&out, room, sizeof room);
        tcall_write_provenance(&out, event->call->cx.tc, event->call);
        FINDING(out.error || is_json(slice(room, out.fill)));
        check_secret(slice(room, out.fill));
        total.repaired += event->call->attempts && event->call->attempts->next;
    }
    if (event->kind == TCALL_EVENT_TURN_END && !depth && !said && once_in(20)) {
        depth++; /* the turn is over, and the next may be said */
        said = tcall_agent_say(&agent, tcall_str_of("And now?")) == TCALL_OK;
        depth--;
    }
    inside(event->call, event->kind == TCALL_EVENT_TURN_END);
}

/* ---- tools ---- */

/* What must hold of everything that runs. */
static void check_run(const tcall_ctx *cx, tcall_json args)
{
    const tcall_call *call = cx->call;
    int n = number_of(args, "n"), k = number_of(call->asked->args, "k");
    total.runs += call->turn != NULL;
    if (k >= 0 && !cx->stop) {
        FINDING(!call->tool->confirm ||
                numbered[k].allowed == number_of(call->asked->args, "n") + 1);
        FINDING(!numbered[k].done || call->tool->idempotent ||
                call->tool->permissions == TCALL_READ);
    }
    total.secrets += tcall_json_get(args, "key").at != NULL;
    check_secret(call->arguments);
    FINDING(call->asked->validated && !call->incomplete && n >= 0 && n <= 9);
    FINDING(!call->tool->confirm || call->approved);
    FINDING(!call->repaired || call->approved ||
            call->tool->permissions == TCALL_READ);
    FINDING(cx->stage == TCALL_AROUND_EXECUTE);
}

static int tool_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    char *kept = (char *)tcall_scratch(cx, "kept", 1 + chance(64));
    uint32_t i, much;
    check_run(cx, args);
    if (cx->stop < 0)
        return TCALL_OK;
    if (kept)
        *kept = 'x';
    if (once_in(3))
        tcall_set_result(cx, tcall_str_of("title"),
                         tcall_str_of(once_in(2) ? "{\"a\":[1]}" : "{broken"));
    if (cx->call->tool->output.text && once_in(2))
        return tcall_write_text(out, once_in(2) ? "{\"a\":[1,2]}"
                                                : "{\"a\":[1,\"\xc3\xa4\",9]}");
    much = once_in(4) ? chance(3000) : chance(20);
    for (i = 0; i < much; i++)
        tcall_write_text(out, "ab \"\xc3\xa4");
    switch (chance(12)) {
    case 0: return TCALL_E_FAILED;
    case 1:
    case 2: return tcall_wait_ms(&cx->wait, chance(50));
    case 3: return tcall_abort(cx, "not now", "closed", 403);
    case 4: return tcall_retry_after(cx, chance(100), "later");
    case 5: return TCALL_E_AGAIN;
    case 6: return out->error;
    case 7: return once_in(2) ? tcall_approval(cx) : TCALL_OK;
    case 8:
        tcall_require_service(cx, once_in(2) ? "none" : "there");
        return TCALL_OK;
    case 9: return once_in(4) ? TCALL_E_APPROVAL : TCALL_OK;
    default: return TCALL_OK;
    }
}

static int tool(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    int k = number_of(cx->call->asked->args, "k"), r;
    inside(cx->call, false);
    r = tool_(cx, args, out);
    inside(cx->call, false);
    if (k >= 0 && r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL)
        numbered[k].done = true;
    return r;
}

#define PARAMETERS                                                    \
    TCALL_JSON({                                                      \
        "type" : "object",                                            \
        "required" : ["n"],                                           \
        "properties" : {                                              \
            "n" : {"type" : "integer", "minimum" : 0, "maximum" : 9}, \
            "k" : {"type" : "integer", "minimum" : 0},                \
            "s" : {"type" : "string", "maxLength" : 8},               \
            "key" : {"type" : "string", "maxLength" : 20}             \
        }                                                             \
    })

#define OUTPUT                                                               \
    TCALL_JSON({                                                             \
        "type" : "object",                                                   \
        "properties" : {"a" : {"type" : "array", "items" : {"maximum" : 3}}} \
    })

static const tcall_tool tools[5] = {{.name = "look",
                                     .parameters = PARAMETERS,
                                     .output = OUTPUT,
                                     .run = tool,
                                     .permissions = TCALL_READ},
                                    {.name = "change",
                                     .parameters = PARAMETERS,
                                     .run = tool,
                                     .permissions = TCALL_WRITE},
                                    {.name = "fire",
                                     .parameters = PARAMETERS,
                                     .run = tool,
                                     .permissions = TCALL_ACTUATE,
                                     .confirm = true},
                                    {.name = "put",
                                     .parameters = PARAMETERS,
                                     .run = tool,
                                     .permissions = TCALL_WRITE,
                                     .idempotent = true,
                                     .confirm = true},
                                    {.name = "never",
                                     .parameters = PARAMETERS,
                                     .run = tool,
                                     .permissions = TCALL_EXECUTE}};

/* The same, and so many others that only some are offered. */
static tcall_tool many[30];

static void make_many(void)
{
    static char names[30][12];
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(many); i++) {
        many[i] = tools[i % TCALL_ARRAY_LEN(tools)];
        if (i < TCALL_ARRAY_LEN(tools))
            continue;
        snprintf(names[i], sizeof names[i], "%s%u", many[i].name, (unsigned)i);
        many[i].name = names[i];
    }
}

/* ---- hooks, approval, repair ---- */

static const char *const texts[] = {"{\"n\":1}",
                                    "{'n':\"2\"}",
                                    "{\"n\":77}",
                                    "{\"n\":",
                                    "",
                                    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                    "{\"n\":3,\"s\":\"12345678\"}",
                                    "{\"n\":true,\"s\":123456789}",
                                    "[[[[[[[[",
                                    "null"};

static const char *some_text(void)
{
    return texts[chance(sizeof texts / sizeof *texts)];
}

static int hook(tcall_ctx *cx, void *user)
{
    (void)user;
    inside(cx->call, false);
    FINDING(cx->stage == cx->hook->stage);
    FINDING((cx->stage > TCALL_ON_ERROR) == (cx->stage >= TCALL_WILL_AUDIT));
    switch (chance(30)) {
    case 0: return tcall_respond(cx, tcall_str_of("instead"));
    case 1: return tcall_abort(cx, "no", NULL, 0);
    case 2: return TCALL_E_CLOSED;
    case 3: return TCALL_E_AGAIN;
    case 4: return tcall_wait_ms(&cx->wait, chance(30));
    case 5: return tcall_set_input(cx, tcall_str_of(some_text()));
    case 6: return tcall_set_output(cx, tcall_str_of(some_text()));
    case 7: return tcall_set_output(cx, tcall_output(cx));
    case 8: return tcall_retry_after(cx, chance(100), "soon");
    case 9: tcall_scratch(cx, "kept", 1 + chance(64)); return TCALL_OK;
    case 10: tcall_deadline(cx, chance(100)); return TCALL_OK;
    case 11: tcall_cancel(cx->call, TCALL_E_CANCELLED); return TCALL_OK;
    case 12: return once_in(2) ? TCALL_E_APPROVAL : TCALL_OK;
    default: return cx->stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : 0;
    }
}

/* Gives the tool a secret, which may be refused, as it is or in arguments that
 * are. */
static int inject(tcall_ctx *cx, void *user)
{
    static const char *const secrets[] = {
        "{\"n\":5,\"key\":\"" SECRET "\"}", "{\"n\":77,\"key\":\"" SECRET "\"}",
        "{\"n\":5,\"key\":\"" SECRET SECRET "\"}",
        "{\"n\":\"4\",'key':\"" SECRET "\"}"};
    (void)user;
    return tcall_set_input(cx,
                           tcall_str_of(secrets[once_in(4) ? chance(4) : 0]));
}

static tcall_verdict approve(void *user, const tcall_call *call)
{
    tcall_verdict verdict = (tcall_verdict)chance(3);
    (void)user;
    inside(call, false);
    check_secret(call->arguments);
    FINDING(call->error >= 0 && call->asked->validated);
    total.approvals++;
    if (verdict == TCALL_VERDICT_ALLOW)
        allow(call);
    return verdict;
}

static int repair(void *user, const tcall_call *call, tcall_writer *out)
{
    (void)user;
    inside(call, false);
    FINDING(call->error < 0 && !call->incomplete && !call->repaired);
    if (once_in(4))
        return TCALL_E_AGAIN;
    tcall_write_text(out, some_text());
    return once_in(5) ? TCALL_E_FAILED : TCALL_OK;
}

static const tcall_repair repairs = TCALL_REPAIR(repair);

static int sink(void *user, const char *bytes, size_t len)
{
    (void)user;
    inside(NULL, false);
    check_secret(slice(bytes, len));
    return once_in(10) ? TCALL_E_CLOSED : (int)len;
}

static tcall_rate rate;
static tcall_concurrency places;
static tcall_backoff backoff;
static char cached[600];
static tcall_cache cache;
static tcall_audit audit = {sink, NULL};
static tcall_ledger_row rows[4];
static tcall_ledger ledger = {rows, 4};
static tcall_loops loops;
static tcall_hook hooks[32];

/* Some of the ready-made hooks, and some that do what comes to mind. */
static uint16_t choose_hooks(void)
{
    const tcall_hook made[] = {
        TCALL_RATE(&rate),     TCALL_CONCURRENCY(&places),
        TCALL_RETRY(&backoff), TCALL_CACHE(&cache),
        TCALL_TIMEOUT(200),    TCALL_AUDIT(&audit),
        TCALL_LEDGER(&ledger), TCALL_LOOPS(&loops)};
    /* how many rows each of them is */
    static const uint8_t parts[] = {1, 2, 1, 2, 1, 1, 3, 2};
    uint16_t count = 0;
    size_t i, at = 0, own = chance(8);
    memset(&rate, 0, sizeof rate);
    memset(&places, 0, sizeof places);
    memset(&cache, 0, sizeof cache);
    memset(rows, 0, sizeof rows);
    memset(&loops, 0, sizeof loops);
    rate.burst = (uint16_t)(1 + chance(5));
    rate.interval_ms = chance(100);
    places.max = (uint16_t)(1 + chance(2));
    backoff.attempts = (uint16_t)(1 + chance(4));
    backoff.first_ms = chance(50);
    cache.memory = cached;
    cache.size = chance(sizeof cached);
    for (i = 0; i < sizeof parts; at += parts[i++])
        if (once_in(4)) {
            memcpy(&hooks[count], &made[at], parts[i] * sizeof *hooks);
            count = (uint16_t)(count + parts[i]);
        }
    if (once_in(3)) {
        memset(&hooks[count], 0, sizeof *hooks);
        hooks[count].name = "inject";
        hooks[count].stage = TCALL_WILL_INJECT_SECRETS;
        hooks[count++].run = inject;
    }
    for (i = 0; i < own; i++, count++) {
        memset(&hooks[count], 0, sizeof *hooks);
        hooks[count].name = "own";
        hooks[count].stage = (uint8_t)chance(TCALL_STAGE_COUNT);
        hooks[count].priority = (int16_t)(chance(5));
        hooks[count].run = hook;
    }
    return count;
}

/* ---- calls of one's own ---- */

/* Makes a call or two without the agent, gives them up where they are, and
 * releases them in any order. Nothing waits for a person here. */
static void call_some(void)
{
    static const char *const names[] = {"look", "change", "never", "nobody"};
    static char results[4][2][1 << 12];
    tcall_call own[2];
    tcall_writer out;
    int i, count = 1 + (int)chance(2), left, tries;
    size_t high = tc.block.high;
    bool gone[2] = {false, false};
    memset(own, 0, sizeof own);
    for (i = 0; i < count; i++) {
        own[i].id = tcall_str_of("own");
        own[i].name = tcall_str_of(names[chance(4)]);
        own[i].arguments = tcall_str_of(some_text());
        total.own++;
        tcall_hydrate(&tc, &own[i]);
        tcall_writer_init(&out, results[depth][i], sizeof results[depth][i]);
        for (tries = (int)chance(4); tries; tries--)
            if (tcall_invoke(&tc, &own[i], &out) != TCALL_E_AGAIN)
                break;
    }
    for (left = count, tries = 0; left && tries < 50; tries++) {
        i = (int)chance((uint32_t)count);
        if (!gone[i] && tcall_release(&tc, &own[i]) == TCALL_OK) {
            gone[i] = true;
            left--;
        }
    }
    FINDING(!left);
    FINDING(tc.block.high == high || depth || agent.batch_count);
}

/* ---- the server ---- */

static char answer[1 << 14];
static size_t answered, answer_len, sent, announced;
static int provider_at;
static const char *const providers[] = {"openai", "anthropic", "ollama",
                                        "gemini", "responses"};

/* Writes an answer with calls or with words, as the provider at hand has it;
 * not always what was meant comes. */
static void write_answer(void)
{
    static const char *const names[] = {"look", "change", "fire",
                                        "put",  "never",  "nobody"};
    static const char *const ids[] = {"a", "b", "c", "a", ""};
    const format *row = format_of(agent.desc.provider->name, agent.desc.stream);
    uint32_t calls = once_in(2) ? 0 : 1 + chance(4), i;
    bool words = !calls || once_in(2);
    tcall_writer out;
    tcall_writer_init(&out, answer, sizeof answer - 1);
    tcall_write_text(&out, row->head);
    if (words)
        fill(&out, row->text, "Ok", NULL, NULL);
    if (calls) /* the comma is after the words */
        tcall_write_text(&out,
                         row->calls + (words ? 0 : strspn(row->calls, ",")));
    for (i = 0; i < calls; i++) {
        const char *arguments = once_in(3) ? some_text() : "{\"n\":5}";
        char id[24], text[40];
        if (once_in(2) && serial < SERIALS) {
            snprintf(text, sizeof text, "{\"n\":%u,\"k\":%d}",
                     (unsigned)chance(11), serial++);
            arguments = text;
        }
        snprintf(id, sizeof id, "%s%u", ids[chance(5)],
                 once_in(3) ? 1 : told.calls + i);
        if (once_in(8))
            id[0] = '\0';
        if (row->value &&
            !(arguments[0] == '{' && is_json(tcall_str_of(arguments))))
            arguments = "{}";
        tcall_write_text(&out, i && !agent.desc.stream ? "," : "");
        fill_call(&out, row, (int)i + 1, id, names[chance(6)], arguments);
    }
    total.calls += calls;
    told.calls += calls;
    fill(&out, calls ? row->tail : row->said,
         row->ends[once_in(10) ? 2
                   : calls     ? 0
                               : 1],
         NULL, NULL);
    answer_len = out.fill;
    if (once_in(30))
        answer[chance((uint32_t)answer_len)] = (char)chance(256);
    if (once_in(30))
        answer_len = chance((uint32_t)answer_len);
}

static int net_open(void *user, const tcall_request *req, tcall_response *res)
{
    static const short statuses[] = {200, 200, 200, 200, 429, 500, 400};
    (void)user;
    inside(NULL, false);
    if (once_in(10))
        return once_in(8) ? TCALL_E_CONNECT : TCALL_E_AGAIN;
    answered = sent = 0;
    announced = req->body_len;
    res->status = statuses[once_in(10) ? chance(7) : 0];
    res->retry_after_ms = once_in(2) ? -1 : (long)chance(100);
    write_answer();
    return TCALL_OK;
}

static int net_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    inside(NULL, false);
    check_secret(slice(bytes, len));
    if (once_in(10))
        return once_in(30) ? TCALL_E_CLOSED : TCALL_E_AGAIN;
    len = once_in(2) ? len : 1 + chance((uint32_t)len);
    sent += len;
    FINDING(sent <= announced);
    return (int)len;
}

static int net_read(void *user, char *bytes, size_t cap)
{
    size_t left;
    (void)user;
    inside(NULL, false);
    left = answer_len - answered;
    if (once_in(10))
        return once_in(30) ? TCALL_E_CLOSED : TCALL_E_AGAIN;
    if (left > cap)
        left = cap;
    if (left && once_in(2))
        left = 1 + chance((uint32_t)left);
    memcpy(bytes, answer + answered, left);
    answered += left;
    return (int)left;
}

static void net_close(void *user)
{
    (void)user;
    inside(NULL, false);
}

static void rest(void *user, const tcall_wait *wait)
{
    (void)user;
    inside(NULL, false);
    clock_ms += wait->ms + 1;
}

/* ---- a life ---- */

enum { ROOM = 1 << 15, MOST_CALLS = 8 };
static char *page_end; /* the first byte that nobody may touch */

/* Sets up a registry and an agent in a block of any size. */
static int begin_life(void)
{
    static tcall_pick_opts opts;
    size_t size = once_in(4) ? chance(ROOM) : 12000 + chance(ROOM - 12000);
    bool picks = once_in(4);
    tcall_desc d;
    int r;
    static tcall_tool room[40];
    memset(page_end - ROOM, 0xA5, ROOM);
    memset(&d, 0, sizeof d);
    memset(numbered, 0, sizeof numbered);
    memset(&more, 0, sizeof more);
    more.on_event = hear;
    more.user = &more;
    serial = 0;
    said = working = false;
    depth = 0;
    if (once_in(2)) {
        d.rows = room;
        d.row_count = TCALL_ARRAY_LEN(room);
    }
    d.block = page_end - size;
    d.lenient = &tcall_lenient;
    d.block_size = size;
    d.tools = picks ? many : tools;
    d.tool_count = picks ? TCALL_ARRAY_LEN(many) : TCALL_ARRAY_LEN(tools);
    d.allow = TCALL_READ | TCALL_WRITE | TCALL_ACTUATE;
    d.lazy_schemas = once_in(2);
    d.hook_count = choose_hooks();
    d.stages = &tcall_stages;
    d.hooks = d.hook_count ? hooks : NULL;
    d.approve = once_in(4) ? NULL : approve;
    d.repair = once_in(2) ? &repairs : NULL;
    d.on_event = hear;
    d.events = &tcall_events;
    d.now_ms = now;
    d.wait = rest;
    memset(&told, 0, sizeof told);
    first = d;
    r = tcall_init(&tc, &d);
    FINDING(r == TCALL_OK || r == TCALL_E_MEMORY);
    memset(&desc, 0, sizeof desc);
    provider_at = (int)chance(5);
    desc.tc = &tc;
    desc.provider = tcall_provider_named(providers[provider_at]);
    desc.model = "m";
    desc.io_size = once_in(2) ? 0 : 64 + chance(1000);
    desc.stream = once_in(2);
    memset(&opts, 0, sizeof opts);
    opts.max = (uint8_t)chance(4);
    opts.allow_unsafe = once_in(2);
    desc.pick = picks ? tcall_pick : NULL;
    desc.pick_opts = picks ? &opts : NULL;
    desc.parallel = (int)chance(4);
    desc.max_rounds = (int)chance(6);
    desc.max_calls = (int)chance(8);
    desc.max_ms = once_in(3) ? chance(2000) : 0;
    desc.transport.open = net_open;
    desc.transport.write = net_write;
    desc.transport.read = net_read;
    desc.transport.close = net_close;
    desc.transport.wait = rest;
    desc.transport.now_ms = once_in(5) ? NULL : now;
    return r < 0 ? r : tcall_agent_init(&agent, &desc);
}

/* Each call that is in the conversation has one result, after it. */
static void check_chat(bool waits)
{
    tcall_item item;
    size_t at = 0;
    int calls = 0, results = 0;
    while (tcall_chat_next(&agent.chat, &at, &item)) {
        calls += item.kind == TCALL_ITEM_CALL;
        results += item.kind == TCALL_ITEM_RESULT;
        FINDING(results <= calls);
    }
    FINDING(waits || calls == results);
}

/* Everything is thrown away and loaded again, in the same block: damaged bytes
 * may be refused, and then it is lost. */
static bool lost;
static int restart(void)
{
    static char bytes[1 << 16];
    tcall_desc d = first;
    tcall_writer out;
    int r;
    tcall_writer_init(&out, bytes, sizeof bytes);
    r = tcall_agent_save(&agent, &out);
    if (r < 0)
        return r;
    total.saved++;
    memset(d.block, 0xA5, d.block_size);
    memset(&told, 0, sizeof told);
    places.running = 0;
    r = tcall_init(&tc, &d);
    FINDING(r == TCALL_OK);
    r = tcall_agent_init(&agent, &desc);
    FINDING(r == TCALL_OK);
    if (once_in(20) && out.fill)
        bytes[chance((uint32_t)out.fill)] ^= (char)(1 << chance(8));
    r = tcall_agent_load(&agent, slice(bytes, out.fill));
    lost = r < 0 && r != TCALL_E_AGAIN;
    return lost ? r : TCALL_OK;
}

/* A verdict for what waits, or for something that does not. */
static void decide(void)
{
    tcall_verdict verdict = (tcall_verdict)chance(3);
    bool other = once_in(6);
    int r = tcall_ledger_decide(&ledger, told.waiting,
                                told.what + (uint64_t)other, verdict);
    FINDING(!other || r == TCALL_E_UNKNOWN);
    if (r == TCALL_OK && verdict == TCALL_VERDICT_ALLOW && told.serial >= 0)
        numbered[told.serial].allowed = (int8_t)(told.n + 1);
}

static int step(void)
{
    int r;
    working = true;
    r = tcall_agent_step(&agent);
    working = false;
    return r;
}

/* Goes on with a turn until it is over. Returns how it ended. */
static int live(int r)
{
    int steps = 0;
    while (r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL) {
        clock_ms += chance(30);
        if (once_in(500))
            tcall_agent_cancel(&agent);
        if (r == TCALL_E_APPROVAL) {
            total.waits++;
            decide();
            if (once_in(8) && restart() < 0 && lost)
                return TCALL_E_MEMORY;
            if (steps > 5000)
                tcall_agent_cancel(&agent);
        }
        if (once_in(30))
            call_some();
        r = step();
        if (++steps > 20000) {
            FINDING(steps <= 20000); /* it ends */
            return r;
        }
    }
    return r;
}

/* Looks at the calls of a plan, answers them, and releases them in any order
 * until all are. */
static void answer_plan(int count)
{
    static tcall_call calls[MOST_CALLS];
    bool released[MOST_CALLS] = {false};
    int i, left = count;
    for (i = 0; i < count; i++) {
        int r = tcall_agent_call(&agent, i, &calls[i]);
        while (r == TCALL_E_AGAIN)
            r = tcall_hydrate(&tc, &calls[i]);
        FINDING(r == calls[i].error);
    }
    for (i = 0; i < count; i++) {
        tcall_str text = slice(calls[i].arguments.ptr, calls[i].arguments.len);
        int r = tcall_agent_result(&agent, &calls[i], text, once_in(2));
        FINDING(r == TCALL_OK || r == TCALL_E_MEMORY);
    }
    while (left) {
        i = (int)chance((uint32_t)count);
        if (tcall_release(&tc, &calls[i]) == TCALL_OK && !released[i]) {
            released[i] = true;
            left--;
        }
    }
}

/* A plan, in which nothing runs: it is answered, saved, dropped or left. */
static int take_plan(void)
{
    unsigned runs = total.runs;
    tcall_picked list[2];
    int count;
    memset(list, 0, sizeof list);
    list[1].index = (uint16_t)chance((uint32_t)tc.desc.tool_count);
    count = tcall_agent_plan(&agent, tcall_str_of("Plan to look."),
                             once_in(3) ? list : NULL, 2);
    total.plans++;
    while (count > 0) {
        FINDING(count <= MOST_CALLS && tc.block.high == 0);
        check_chat(true);
        if (once_in(6) && restart() < 0 && lost)
            return TCALL_E_MEMORY;
        if (once_in(6))
            break;
        answer_plan(count);
        if (once_in(6))
            break;
        count = tcall_agent_plan(&agent, tcall_str_of(""), NULL, 0);
    }
    if (count == TCALL_E_USAGE ||
        count > 0) {       /* not answered, for lack of room */
        int waits = count; /* or it never began: tools changed meanwhile */
        tcall_agent_cancel(&agent);
        count = tcall_agent_step(&agent);
        FINDING(count == TCALL_E_CANCELLED || (count == waits && count < 0));
    }
    FINDING(total.runs == runs);
    return count;
}

/* A turn, and what must hold after it. */
static int take_turn(void)
{
    int r;
    total.turns++;
    if (once_in(4)) {
        r = take_plan();
    } else {
        working = true;
        r = tcall_agent_say(&agent, tcall_str_of("Do it."));
        working = false;
        if (r == TCALL_OK || r == TCALL_E_AGAIN)
            r = live(TCALL_E_AGAIN);
    }
    while (said) { /* what a listener began */
        said = false;
        r = live(TCALL_E_AGAIN);
    }
    total.failed += r < 0;
    if (lost)
        return r;
    FINDING(told.begun == told.ended && told.asked == told.decided);
    FINDING(told.turns == told.turn_ends);
    FINDING(places.running == 0);
    FINDING(tc.block.high == 0);
    check_chat(false);
    return r;
}

static void live_once(uint64_t seed)
{
    uint32_t turns;
    state = life_seed = seed;
    clock_ms = 0;
    lost = false;
    chance(1);
    if (begin_life() < 0) {
        total.turns++;
        return;
    }
    for (turns = 1 + chance(6); turns; turns--) {
        if (take_turn() == TCALL_E_MEMORY)
            break;
        if (once_in(4)) {
            provider_at = (int)chance(5);
            desc.provider = tcall_provider_named(providers[provider_at]);
            if (tcall_agent_use(&agent, &desc) < 0)
                break;
        }
        if (once_in(6) && restart() < 0)
            break;
    }
}

int main(int argc, char **argv)
{
    unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = (char *)mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + ROOM, page, PROT_NONE) < 0)
        return 1;
    page_end = memory + ROOM;
    make_many();
    while (total.turns < wanted && check_failed < 20)
        live_once(seed++);
    printf("test_fuzz: %u turns, %u plans, %u calls, %u runs, %u waits, %u "
           "asked, %u repaired, %u saved, %u secrets, %u failed, %u from "
           "inside, %u refused, %u own calls\n",
           total.turns, total.plans, total.calls, total.runs, total.waits,
           total.approvals, total.repaired, total.saved, total.secrets,
           total.failed, total.inside, total.refused, total.own);
    check_passed += (int)total.turns;
    return check_sum("test_fuzz");
}
