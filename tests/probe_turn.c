/*
 * probe turn: whole conversations with canned answers, so that what calls,
 * hooks and history do can be shown without C. One conversation a line in, one
 * line out for each of its turns.
 *
 * A list that is used up (approve, repair, a tool's script) gives its last
 * entry again; answers that are used up are a connection that is refused. Time
 * passes only where somebody waits. With "plan" nothing runs: the checked calls
 * are in provenance and get what the turn's "results" list, and so on until
 * that is used up: the next turn drops what is left. Its "tools" are the names
 * of those that the model gets to see. With
 * a tool's entry "images" shows so many; a turn's "show" are images of the
 * user, and it is cancelled before step "cancel_at". With "save" a turn is
 * saved where it ends or first waits for a verdict, all memory is thrown away,
 * and what was saved is loaded.
 */
#include "probe.h"

enum { MAX_STEPS = 100000, MAX_NAMES = 16, MAX_IMAGES = 64 };

/* ---- what grows: the lists of a turn ---- */

typedef struct growing {
    tcall_writer out;
    char piece[64];
    char *text;
    size_t len, cap;
} growing;

static int growing_add(void *user, const char *piece, size_t len)
{
    growing *b = (growing *)user;
    if (b->len + len > b->cap) {
        b->cap = 2 * (b->len + len);
        b->text = (char *)realloc(b->text, b->cap);
    }
    memcpy(b->text + b->len, piece, len);
    b->len += len;
    return (int)len;
}

/* Begins a text anew; its memory is kept. */
static void growing_begin(growing *b)
{
    b->len = 0;
    tcall_writer_init(&b->out, b->piece, sizeof b->piece);
    tcall_writer_sink(&b->out, growing_add, b);
}

static tcall_str growing_str(growing *b)
{
    tcall_str all;
    tcall_writer_flush(&b->out);
    all.ptr = b->text;
    all.len = b->len;
    return all;
}

/* ---- a conversation ---- */

enum { REQUESTS, RUNS, RESULTS, APPROVALS, EVENTS, PROVENANCE, LISTS };
static const char *const list_names[LISTS] = {
    "requests", "runs", "results", "approvals", "events", "provenance"};

/* What a tool answers, and how far that got. */
typedef struct part {
    tcall_json next; /* the entry of the next run; the last one stays */
    int again;       /* times it still has to answer TCALL_E_AGAIN */
    bool begun;      /* of an entry that says again */
    tcall_json secret;
} part;

typedef struct conversation {
    tcall tc;
    tcall_agent agent;
    tcall_desc desc;
    tcall_agent_desc agent_desc;
    tcall_hook inject;
    part *parts; /* one for each tool */
    tcall_json approve, repair;
    tcall_json answer, next_answer; /* the one that is read; the one after it */
    size_t sent;
    char stop[32]; /* why the last answer stopped */
    int cancel_at; /* a step; 0: never */
    tcall_attachment images[MAX_IMAGES];
    char pixels[MAX_IMAGES][3];
    int shown;
    uint32_t now;
    const char *names[MAX_NAMES]; /* of roles */
    growing list[LISTS], report, body, saved;
} conversation;

/* Gives an entry of a list and moves on, but never beyond its end. */
static tcall_json take(tcall_json *next)
{
    tcall_json now = *next, after = tcall_json_next(now);
    if (after.at)
        *next = after;
    return now;
}

static void write_member(tcall_writer *w, const char *key, tcall_str value)
{
    tcall_write_key(w, key);
    tcall_write_str(w, value);
}

/* Writes a member that says an error's code, null where there is none. */
static void write_error(tcall_writer *w, int error)
{
    tcall_write_key(w, "error");
    if (error)
        tcall_write_string(w, tcall_error_code(error));
    else
        tcall_write_null(w);
}

/* Writes the members that say what a call is: its name and its arguments as
 * they were checked, or else as they came. */
static void write_call(tcall_writer *w, const tcall_call *call, tcall_json args)
{
    write_member(w, "tool",
                 call->tool ? tcall_str_of(call->tool->name) : call->name);
    tcall_write_key(w, "arguments");
    if (args.at)
        tcall_write_json(w, args);
    else
        tcall_write_str(w, call->arguments);
}

/* ---- tools ---- */

static part *part_of(const conversation *c, const tcall_tool *tool)
{
    return &c->parts[tool - c->desc.tools];
}

/* Shows images, each in memory of its own, as the conversation wants it. */
static void show(tcall_ctx *cx, int count)
{
    conversation *c = (conversation *)cx->user;
    while (count-- > 0 && c->shown < MAX_IMAGES) {
        tcall_attachment *image = &c->images[c->shown];
        char *bytes = c->pixels[c->shown++];
        memset(image, 0, sizeof *image);
        memcpy(bytes, "PNG", 3);
        image->type = "image/png";
        image->bytes.ptr = bytes;
        image->bytes.len = 3;
        image->next = cx->result.attached;
        cx->result.attached = image;
    }
}

/* Answers as an entry of a script says. */
static int answer_run(tcall_ctx *cx, tcall_json entry, tcall_writer *out)
{
    tcall_json fail = tcall_json_get(entry, "fail");
    int retry = tcall_json_int(tcall_json_get(entry, "retry_after"), -1);
    if (retry >= 0)
        return tcall_retry_after(cx, (uint32_t)retry, "come back later");
    tcall_write_text(
        out,
        tcall_json_string(fail.at ? fail : tcall_json_get(entry, "text"), ""));
    show(cx, tcall_json_int(tcall_json_get(entry, "images"), 0));
    return fail.at ? TCALL_E_FAILED : TCALL_OK;
}

static int run_tool(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    conversation *c = (conversation *)cx->user;
    part *play = part_of(c, cx->call->tool);
    tcall_json again = tcall_json_get(play->next, "again");
    tcall_writer *runs = &c->list[RUNS].out;
    if (cx->stop) { /* it held nothing */
        play->begun = false;
        return cx->stop;
    }
    if (again.at) {
        if (!play->begun)
            play->again = tcall_json_int(again, 0);
        play->begun = play->again-- > 0;
        if (play->begun)
            return TCALL_E_AGAIN;
        play->next = tcall_json_next(play->next);
    }
    tcall_write_open(runs, '{');
    write_call(runs, cx->call, args);
    tcall_write_close(runs, '}');
    if (play->next.at)
        return answer_run(cx, take(&play->next), out);
    tcall_write_json(out, args);
    return TCALL_OK;
}

/* Writes the members of an object but those that another one has. */
static void write_members(tcall_writer *w, tcall_json object, tcall_json but)
{
    tcall_json v;
    for (v = tcall_json_first(object); v.at; v = tcall_json_next(v)) {
        const char *key = tcall_json_key(v).ptr;
        if (tcall_json_get(but, key).at)
            continue;
        tcall_write_key(w, key);
        tcall_write_json(w, v);
    }
}

/* A hook just before the run: adds what "secret" of the tool says. */
static int inject(tcall_ctx *cx, void *user)
{
    conversation *c = (conversation *)user;
    tcall_json secret = part_of(c, cx->call->tool)->secret, none = {0};
    tcall_writer *w = &c->body.out;
    if (!secret.at)
        return TCALL_OK;
    growing_begin(&c->body);
    tcall_write_open(w, '{');
    write_members(w, cx->call->asked->args, secret);
    write_members(w, secret, none);
    tcall_write_close(w, '}');
    return tcall_set_input(cx, growing_str(&c->body));
}

/* ---- verdicts, repairs, events ---- */

static tcall_verdict approve(void *user, const tcall_call *call)
{
    conversation *c = (conversation *)user;
    tcall_json answer = take(&c->approve);
    tcall_writer *w = &c->list[APPROVALS].out;
    bool yes = tcall_json_bool(answer, false);
    tcall_write_open(w, '{');
    write_call(w, call, call->asked->args);
    tcall_write_key(w, "verdict");
    tcall_write_json(w, answer);
    tcall_write_close(w, '}');
    return yes                                       ? TCALL_VERDICT_ALLOW
           : tcall_json_type(answer) == TCALL_STRING ? TCALL_VERDICT_LATER
                                                     : TCALL_VERDICT_DENY;
}

static int repair(void *user, const tcall_call *call, tcall_writer *out)
{
    conversation *c = (conversation *)user;
    (void)call;
    return tcall_write_text(out, tcall_json_string(take(&c->repair), ""));
}

static const tcall_repair repairs = TCALL_REPAIR(repair);

static void on_event(void *user, const tcall_event *event)
{
    static const char *const kinds[] = {
        "hydrated", "repair",  "approval", "start",   "output",   "end",
        "text",     "request", "answer",   "verdict", "progress", "error",
        "retry",    "pick",    "piece",    "turn",    "turn_end", "hook"};
    conversation *c = (conversation *)user;
    tcall_writer *w = &c->list[EVENTS].out;
    tcall_write_open(w, '{');
    write_member(w, "kind", tcall_str_of(kinds[event->kind]));
    if (event->call)
        write_member(w, "tool", event->call->name);
    if (event->text.len)
        write_member(w, "text", event->text);
    if (event->error)
        write_error(w, event->error);
    tcall_write_close(w, '}');
    if (event->kind == TCALL_EVENT_END)
        tcall_write_provenance(&c->list[PROVENANCE].out, &c->tc, event->call);
}

/* ---- the transport: what was sent is kept, what comes is canned ---- */

static tcall_str header(tcall_json answer, const char *name)
{
    return tcall_json_str(
        tcall_json_get(tcall_json_get(answer, "headers"), name));
}

static int canned_open(void *user, const tcall_request *request,
                       tcall_response *response)
{
    conversation *c = (conversation *)user;
    tcall_json after;
    tcall_str seconds, again;
    (void)request;
    c->answer = c->next_answer;
    if (!c->answer.at)
        return TCALL_E_CONNECT;
    after = tcall_json_next(c->answer);
    c->next_answer = after;
    c->sent = 0;
    growing_begin(&c->body);
    response->status = tcall_json_int(tcall_json_get(c->answer, "status"), 200);
    seconds = header(c->answer, "retry-after");
    if (seconds.len)
        response->retry_after_ms = 1000 * atol(seconds.ptr);
    again = header(c->answer, "x-should-retry");
    if (again.len)
        response->should_retry = again.ptr[0] == 't' ? 1 : -1;
    return TCALL_OK;
}

static int canned_write(void *user, const char *bytes, size_t len)
{
    return growing_add(&((conversation *)user)->body, bytes, len);
}

static int canned_read(void *user, char *bytes, size_t cap)
{
    conversation *c = (conversation *)user;
    tcall_str body = tcall_json_str(tcall_json_get(c->answer, "body"));
    size_t left = body.len - c->sent;
    if (left > cap)
        left = cap;
    memcpy(bytes, body.ptr + c->sent, left);
    c->sent += left;
    return (int)left;
}

static void canned_close(void *user)
{
    conversation *c = (conversation *)user;
    if (c->answer.at && c->body.len)
        tcall_write_verbatim(&c->list[REQUESTS].out, growing_str(&c->body));
}

static uint32_t canned_now(void *user)
{
    return ((conversation *)user)->now;
}

/* Nobody else is there: what has no time to wait for passes at once. */
static void canned_wait(void *user, const tcall_wait *wait)
{
    if (wait->ms != TCALL_WAIT_NEVER)
        ((conversation *)user)->now += wait->ms;
}

/* ---- from JSON ---- */

static unsigned permissions(tcall_json list)
{
    static const char *const names[] = {"read", "write", "execute", "network",
                                        "actuate"};
    unsigned bits = 0, i;
    tcall_json v;
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v))
        for (i = 0; i < 5; i++)
            if (strcmp(tcall_json_string(v, ""), names[i]) == 0)
                bits |= 1u << i;
    return bits;
}

/* Roles are bits, or names that get a bit each as they come. */
static uint16_t roles(conversation *c, tcall_json list)
{
    unsigned bits = 0, i;
    tcall_json v;
    if (tcall_json_type(list) == TCALL_NUMBER)
        return (uint16_t)tcall_json_int(list, 0);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v)) {
        const char *name = tcall_json_string(v, "");
        for (i = 0; i < MAX_NAMES - 1; i++) {
            if (!c->names[i])
                c->names[i] = name;
            if (strcmp(name, c->names[i]) == 0)
                break;
        }
        bits |= 1u << i;
    }
    return (uint16_t)bits;
}

static uint8_t no_schema_mode(const char *mode)
{
    return strcmp(mode, "full") == 0             ? TCALL_NO_SCHEMA_FULL
           : strcmp(mode, "human-approval") == 0 ? TCALL_NO_SCHEMA_APPROVAL
                                                 : TCALL_NO_SCHEMA_READ_ONLY;
}

/* A schema as text, NULL where there is none. */
static const char *schema_text(tcall_json schema)
{
    return schema.at ? probe_text(schema) : NULL;
}

static void read_tool(conversation *c, tcall_tool *tool, part *play,
                      tcall_json v)
{
    const char *mode = tcall_json_string(tcall_json_get(v, "no_schema"), NULL);
    tool->name = tcall_json_string(tcall_json_get(v, "name"), "");
    tool->description =
        tcall_json_string(tcall_json_get(v, "description"), NULL);
    tool->parameters =
        tcall_schema_text_of(schema_text(tcall_json_get(v, "parameters")));
    tool->provider_schema =
        tcall_schema_text_of(schema_text(tcall_json_get(v, "provider_schema")));
    tool->output =
        tcall_schema_text_of(schema_text(tcall_json_get(v, "output")));
    tool->permissions = (uint8_t)permissions(tcall_json_get(v, "permissions"));
    tool->optional_permissions =
        (uint8_t)permissions(tcall_json_get(v, "optional_permissions"));
    tool->roles = roles(c, tcall_json_get(v, "roles"));
    tool->confirm = tcall_json_bool(tcall_json_get(v, "confirm"), false);
    tool->idempotent = tcall_json_bool(tcall_json_get(v, "idempotent"), false);
    tool->allow_repeat =
        tcall_json_bool(tcall_json_get(v, "allow_repeat"), false);
    tool->strict = tcall_json_bool(tcall_json_get(v, "strict"), false);
    tool->allow_no_schema = mode != NULL;
    if (mode)
        tool->no_schema_mode = no_schema_mode(mode);
    tool->run = run_tool;
    tool->user = c;
    play->next = tcall_json_first(tcall_json_get(v, "script"));
    play->secret = tcall_json_get(v, "secret");
}

static void read_tools(conversation *c, tcall_json list)
{
    size_t count = (size_t)tcall_json_count(list), n = 0;
    tcall_tool *tools = (tcall_tool *)calloc(count + 1, sizeof *tools);
    tcall_json v;
    c->parts = (part *)calloc(count + 1, sizeof *c->parts);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v), n++)
        read_tool(c, &tools[n], &c->parts[n], v);
    c->desc.tools = tools;
    c->desc.tool_count = count;
}

static void read_descs(conversation *c, tcall_json in)
{
    tcall_json limits = tcall_json_get(in, "limits");
    bool strict =
        tcall_json_bool(tcall_json_get(in, "strict_arguments"), false);
    tcall_desc *desc = &c->desc;
    tcall_agent_desc *agent = &c->agent_desc;
    read_tools(c, tcall_json_get(in, "tools"));
    c->approve = tcall_json_first(tcall_json_get(in, "approve"));
    c->repair = tcall_json_first(tcall_json_get(in, "repair"));
    c->inject.name = "secret";
    c->inject.stage = TCALL_WILL_INJECT_SECRETS;
    c->inject.run = inject;
    c->inject.user = c;
    desc->block_size =
        (size_t)tcall_json_int(tcall_json_get(in, "block"), 8192);
    desc->block = malloc(desc->block_size);
    desc->allow = (uint8_t)permissions(tcall_json_get(in, "allow"));
    desc->roles = roles(c, tcall_json_get(in, "roles"));
    desc->lenient = strict ? NULL : &tcall_lenient;
    desc->patterns = &tcall_patterns;
    desc->approve = c->approve.at ? approve : NULL;
    desc->repair = c->repair.at ? &repairs : NULL;
    desc->on_event = on_event;
    desc->events = &tcall_events;
    desc->now_ms = canned_now;
    desc->hooks = &c->inject;
    desc->hook_count = 1;
    desc->stages = &tcall_stages;
    desc->report = &tcall_report;
    desc->faults = &c->report.out;
    desc->user = c;
    agent->tc = &c->tc;
    agent->provider =
        probe_provider(tcall_json_string(tcall_json_get(in, "provider"), ""));
    agent->model = "canned";
    agent->system = tcall_json_string(tcall_json_get(in, "system"), NULL);
    agent->extra = tcall_json_string(tcall_json_get(in, "extra"), NULL);
    agent->stream = tcall_json_bool(tcall_json_get(in, "stream"), false);
    agent->text_calls = probe_text_calls(tcall_json_get(in, "text_calls"));
    agent->allow_repeat = !tcall_json_bool(tcall_json_get(in, "loops"), true);
    agent->max_rounds = tcall_json_int(tcall_json_get(limits, "rounds"), 0);
    agent->max_calls = tcall_json_int(tcall_json_get(limits, "calls"), 0);
    agent->max_turn_tokens =
        (uint32_t)tcall_json_int(tcall_json_get(limits, "tokens"), 0);
    agent->max_ms = (uint32_t)tcall_json_int(tcall_json_get(limits, "ms"), 0);
    agent->transport.open = canned_open;
    agent->transport.write = canned_write;
    agent->transport.read = canned_read;
    agent->transport.close = canned_close;
    agent->transport.now_ms = canned_now;
    agent->transport.wait = canned_wait;
    agent->transport.user = c;
}

/* ---- turns ---- */

/* Begins anew, with nothing in memory. */
static int start(conversation *c)
{
    int error;
    memset(c->desc.block, 0xA5, c->desc.block_size);
    error = tcall_init(&c->tc, &c->desc);
    return error < 0 ? error : tcall_agent_init(&c->agent, &c->agent_desc);
}

/* Saves, throws everything away, and loads. Returns as tcall_agent_load. */
static int restart(conversation *c)
{
    int error;
    growing_begin(&c->saved);
    error = tcall_agent_save(&c->agent, &c->saved.out);
    if (error == TCALL_OK)
        error = start(c);
    return error < 0 ? error
                     : tcall_agent_load(&c->agent, growing_str(&c->saved));
}

/* Goes on until the turn is over, or waits for a verdict: one that is not in
 * the list, or, where it is saved then, any. Time passes as the agent says. */
static int go_on(conversation *c, bool save)
{
    int error = TCALL_E_AGAIN, steps;
    for (steps = 0; steps < MAX_STEPS; steps++) {
        bool more = tcall_json_next(c->approve).at != NULL && !save;
        if (steps + 1 == c->cancel_at)
            tcall_agent_cancel(&c->agent);
        error = tcall_agent_step(&c->agent);
        strcpy(c->stop, c->agent.answer.stop_text);
        if (error != TCALL_E_AGAIN && (error != TCALL_E_APPROVAL || !more))
            return error;
        canned_wait(c, &c->agent.wait);
    }
    return error;
}

/* Looks at the calls of a plan, and answers as many as there are results.
 * Returns whether all have one. */
static bool look_at_plan(conversation *c, int count, tcall_json *result)
{
    tcall_call call;
    int index, given = 0;
    strcpy(c->stop, c->agent.answer.stop_text);
    for (index = 0; index < count; index++) {
        tcall_agent_call(&c->agent, index, &call);
        tcall_write_provenance(&c->list[PROVENANCE].out, &c->tc, &call);
        if (result->at &&
            tcall_agent_result(&c->agent, &call, tcall_json_str(*result),
                               false) == TCALL_OK) {
            given++;
            *result = tcall_json_next(*result);
        }
        tcall_release(&c->tc, &call);
    }
    return count > 0 && given == count;
}

/* Gives the tools of a list of names. Returns their number, -1 without one. */
static int listed(const conversation *c, tcall_json list, tcall_picked *picks)
{
    const tcall_tool *tool;
    tcall_json v;
    int count = 0;
    memset(picks, 0, TCALL_AGENT_PICKS * sizeof *picks);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v)) {
        tool = tcall_find(&c->tc, tcall_json_str(v));
        if (tool && count < TCALL_AGENT_PICKS)
            picks[count++].index = (uint16_t)(tool - c->tc.desc.tools);
    }
    return list.at ? count : -1;
}

static int plan_turn(conversation *c, tcall_json in, tcall_str user)
{
    tcall_json result = tcall_json_first(tcall_json_get(in, "results"));
    tcall_picked picks[TCALL_AGENT_PICKS];
    int named = listed(c, tcall_json_get(in, "tools"), picks);
    int count = tcall_agent_plan(&c->agent, user, named < 0 ? NULL : picks,
                                 named < 0 ? 0 : named);
    while (look_at_plan(c, count, &result))
        count = tcall_agent_plan(&c->agent, tcall_str_of(""), NULL, 0);
    return count < 0 ? count : TCALL_OK;
}

static int take_turn(conversation *c, tcall_json in, bool plan)
{
    tcall_str user = tcall_json_str(tcall_json_get(in, "user"));
    bool save = tcall_json_bool(tcall_json_get(in, "save"), false);
    const char *provider =
        tcall_json_string(tcall_json_get(in, "provider"), NULL);
    tcall_json image = tcall_json_first(tcall_json_get(in, "show"));
    int error = TCALL_OK, loaded;
    c->cancel_at = tcall_json_int(tcall_json_get(in, "cancel_at"), 0);
    if (provider) {
        c->agent_desc.provider = probe_provider(provider);
        error = tcall_agent_use(&c->agent, &c->agent_desc);
    }
    for (; image.at && error == TCALL_OK; image = tcall_json_next(image))
        error =
            tcall_agent_show(&c->agent, "image/jpeg", tcall_json_str(image));
    if (error == TCALL_OK && plan)
        error = plan_turn(c, in, user);
    else if (error == TCALL_OK) {
        error = tcall_agent_say(&c->agent, user);
        if (error == TCALL_OK)
            error = go_on(c, save);
    }
    if (!save)
        return error;
    loaded = restart(c);
    return loaded == TCALL_E_AGAIN ? go_on(c, false)
           : loaded < 0            ? loaded
                                   : error;
}

/* Writes the results that came into the conversation since the turn began, with
 * the ids that requests have for them. */
static void write_results(conversation *c)
{
    tcall_writer *w = &c->list[RESULTS].out;
    tcall_item item;
    size_t at = 0, turn = 0;
    char made[9];
    while (tcall_chat_next(&c->agent.chat, &at, &item))
        if (item.kind == TCALL_ITEM_USER)
            turn = at;
    for (at = turn; tcall_chat_next(&c->agent.chat, &at, &item);) {
        if (item.kind != TCALL_ITEM_RESULT)
            continue;
        tcall_write_open(w, '{');
        write_member(w, "id",
                     tcall_id_for(c->agent.desc.provider, item.id, made));
        write_member(w, "name", item.name);
        write_member(w, "text", item.text);
        write_error(w, item.error);
        tcall_write_close(w, '}');
    }
}

static void write_turn(conversation *c, tcall_str text, int error, FILE *out)
{
    tcall_writer w;
    char piece[512];
    int i;
    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, probe_read_out, out);
    tcall_write_open(&w, '{');
    for (i = 0; i < LISTS; i++) {
        tcall_write_close(&c->list[i].out, ']');
        tcall_write_key(&w, list_names[i]);
        tcall_write_verbatim(&w, growing_str(&c->list[i]));
    }
    write_member(&w, "text", text);
    write_error(&w, error);
    write_member(&w, "stop", tcall_str_of(c->stop));
    tcall_write_key(&w, "peak");
    tcall_write_uint(&w, tcall_peak(&c->tc));
    tcall_write_close(&w, '}');
    tcall_write_bytes(&w, "\n", 1);
    tcall_writer_flush(&w);
}

static void turn(conversation *c, tcall_json in, bool plan, int ready,
                 FILE *out)
{
    tcall_str text;
    int error = ready, i;
    for (i = 0; i < LISTS; i++) {
        growing_begin(&c->list[i]);
        tcall_write_open(&c->list[i].out, '[');
    }
    c->next_answer = tcall_json_first(tcall_json_get(in, "answers"));
    if (ready < 0) {
        text = c->agent.problem ? tcall_str_of(c->agent.problem)
                                : growing_str(&c->report);
    } else {
        error = take_turn(c, in, plan);
        text = tcall_agent_text(&c->agent);
        write_results(c);
    }
    write_turn(c, text, error, out);
}

static void free_all(conversation *c)
{
    size_t i;
    for (i = 0; i < c->desc.tool_count; i++) {
        const tcall_tool *tool = &c->desc.tools[i];
        free((void *)(uintptr_t)tool->parameters.text);
        free((void *)(uintptr_t)tool->provider_schema.text);
        free((void *)(uintptr_t)tool->output.text);
    }
    free((void *)(uintptr_t)c->desc.tools);
    free(c->parts);
    free(c->desc.block);
    for (i = 0; i < LISTS; i++)
        free(c->list[i].text);
    free(c->report.text);
    free(c->body.text);
    free(c->saved.text);
}

static void converse(tcall_json in, FILE *out)
{
    static conversation c;
    bool plan = tcall_json_bool(tcall_json_get(in, "plan"), false);
    int pick = tcall_json_int(tcall_json_get(in, "pick"), 0), ready;
    tcall_pick_opts opts;
    tcall_json t;
    memset(&c, 0, sizeof c);
    memset(&opts, 0, sizeof opts);
    growing_begin(&c.report);
    read_descs(&c, in);
    opts.max = (uint8_t)pick;
    opts.allow_unsafe = true;
    if (pick > 0) {
        c.agent_desc.pick = tcall_pick;
        c.agent_desc.pick_opts = &opts;
    }
    ready = start(&c);
    t = tcall_json_first(tcall_json_get(in, "turns"));
    for (; t.at; t = tcall_json_next(t))
        turn(&c, t, plan, ready, out);
    free_all(&c);
}

int probe_turn(FILE *in, FILE *out)
{
    char *line;
    size_t len;
    while ((line = probe_line(in, &len)) != NULL) {
        converse(probe_parse(line, len), out);
        fflush(out);
        free(line);
    }
    return 0;
}
