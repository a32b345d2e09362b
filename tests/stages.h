/*
 * stages.h - a call whose stages leave a trail: what hooks and the tool do at
 * each is set beforehand
 */
/* One letter for each stage, in the order of TCALL_STAGES: A is
 * will_bind_services, Q around_execute, Z on_error, a will_audit, f
 * will_finalize. Besides: * the tool runs; events: < start, > end, ! error,
 * ? approval is asked for, = verdict, ~ retry, % a hook failed. */
static inline char letter(int stage)
{
    return (char)(stage < 26 ? 'A' + stage : 'a' + stage - 26);
}

static char seen[512];

static inline void see(char c)
{
    size_t n = strlen(seen);
    if (n + 1 < sizeof seen)
        seen[n] = c;
}

/* What happens, and where. */
typedef enum act { NOTHING, RESPOND, ABORT, RETRY_AFTER, FAIL, AGAIN } act;
static struct {
    act act;
    int stage;                    /* where the act is done */
    int hit;                      /* will_read_cache answers */
    int failures;                 /* so many runs of the tool fail */
    int waits;                    /* so many times it answers again */
    int attempts;                 /* of the hook around it that retries */
    int acquired, released, held; /* quota and semaphore */
    int runs, lasts;
    uint32_t clock;
} world;

static inline int act_at(tcall_ctx *cx)
{
    switch (world.act) {
    case RESPOND: return tcall_respond(cx, tcall_str_of("\"instead\""));
    case ABORT: return tcall_abort(cx, "not today", "closed", 403);
    case RETRY_AFTER: return tcall_retry_after(cx, 1500, "come back");
    case FAIL: return TCALL_E_CLOSED;
    case AGAIN: world.act = NOTHING; return TCALL_E_AGAIN;
    default: return TCALL_OK;
    }
}

static inline int record(tcall_ctx *cx, void *user)
{
    int stage = cx->hook->stage;
    (void)user;
    see(letter(stage));
    if (world.act && world.stage == stage)
        return act_at(cx);
    if (stage == TCALL_WILL_READ_CACHE && world.hit)
        return tcall_respond(cx, tcall_str_of("\"cached\""));
    return stage == TCALL_AROUND_EXECUTE ? tcall_next(cx) : TCALL_OK;
}

static inline int acquire(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    world.acquired++;
    world.held++;
    return TCALL_OK;
}

static inline int release(tcall_ctx *cx, void *user)
{
    (void)cx;
    (void)user;
    world.released++;
    world.held--;
    return TCALL_OK;
}

static inline int retry(tcall_ctx *cx, void *user)
{
    int r = tcall_next(cx);
    (void)user;
    while (r < 0 && r != TCALL_E_AGAIN && cx->attempt < world.attempts)
        r = tcall_next(cx);
    return r;
}

static char quota, semaphore;
static tcall_hook hooks[TCALL_STAGE_COUNT + 8];
static tcall_tool tools[2];

static inline int tool_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    see('*');
    world.runs++;
    if (cx->stop < 0) {
        world.lasts++;
        return TCALL_OK;
    }
    if (world.waits-- > 0)
        return TCALL_E_AGAIN;
    if (world.failures-- > 0) {
        tcall_write_text(out, "it is stuck");
        return TCALL_E_FAILED;
    }
    return tcall_write_string(out, "done");
}

#define NAMED(NAME, when) #NAME,
static const char *const stage_names[] = {TCALL_STAGES(NAMED)};
#undef NAMED

static inline void set_hook(tcall_hook *h, int stage,
                            int (*run)(tcall_ctx *cx, void *user), void *user)
{
    memset(h, 0, sizeof *h);
    h->name = stage_names[stage];
    h->stage = (uint8_t)stage;
    h->run = run;
    h->user = user;
}

static inline void note(void *user, const tcall_event *event)
{
    static const char letters[] = "  ?<.>   =.!~    %";
    (void)user;
    if (letters[event->kind] != ' ')
        see(letters[event->kind]);
}

static tcall_verdict verdict;
static inline tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user;
    (void)call;
    return verdict;
}

static inline uint32_t now(void *user)
{
    (void)user;
    return world.clock;
}

static char block[16384], result[1024];
static tcall tc;
static tcall_call call;
static tcall_desc desc;
static tcall_writer out;

static inline void prepare(void)
{
    int i, n = TCALL_STAGE_COUNT;
    memset(&world, 0, sizeof world);
    memset(hooks, 0, sizeof hooks);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < n; i++)
        set_hook(&hooks[i], i, record, &hooks[i]);
    set_hook(&hooks[n++], TCALL_WILL_ACQUIRE_QUOTA, acquire, &quota);
    set_hook(&hooks[n++], TCALL_WILL_ACQUIRE_SEMAPHORE, acquire, &semaphore);
    set_hook(&hooks[n++], TCALL_DID_RELEASE_QUOTA, release, &quota);
    set_hook(&hooks[n++], TCALL_DID_RELEASE_SEMAPHORE, release, &semaphore);
    set_hook(&hooks[n++], TCALL_AROUND_EXECUTE, retry, NULL);
    tools[0].name = "work";
    tools[0].parameters = tcall_schema_text_of(TCALL_TEXT({
        "type" : "object",
        "properties" : {"n" : {"type" : "integer", "maximum" : 9}}
    }));
    tools[0].run = tool_run;
    tools[0].permissions = TCALL_READ;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = sizeof block;
    desc.tools = tools;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.hooks = hooks;
    desc.hook_count = (uint16_t)n;
    desc.stages = &tcall_stages;
    desc.on_event = note;
    desc.events = &tcall_events;
    desc.approve = approve;
    desc.now_ms = now;
}

static inline void ask(const char *name, const char *arguments)
{
    memset(&call, 0, sizeof call);
    memset(seen, 0, sizeof seen);
    memset(result, 0, sizeof result);
    call.id = tcall_str_of("id1");
    call.name = tcall_str_of(name);
    call.arguments = tcall_str_of(arguments);
    tcall_writer_init(&out, result, sizeof result - 1);
    tcall_hydrate(&tc, &call);
}

static inline int invoke(void)
{
    int r = tcall_invoke(&tc, &call, &out);
    result[out.fill] = 0;
    if (r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL)
        tcall_release(&tc, &call);
    return r;
}

static inline int once(const char *arguments)
{
    CHECK(tcall_init(&tc, &desc) == TCALL_OK);
    ask("work", arguments);
    return invoke();
}

static inline bool says(const char *text)
{
    return strstr(result, text) != NULL;
}

static inline int count(char c)
{
    int n = 0;
    const char *p;
    for (p = seen; *p; p++)
        n += *p == c;
    return n;
}

/* What holds for every call that has its result. */
static inline void check_ends(const char *what)
{
    bool good = count('f') == 1 && count('<') == 1 && count('>') == 1 &&
                count('?') == count('=') && world.held == 0 &&
                world.acquired == world.released && tc.block.high == 0 &&
                count('a') == 1 && count('b') == 1 && count('c') == 1;
    CHECK(good);
    if (!good)
        printf("  in %s: %s\n", what, seen);
}

static inline void check_order(const char *what, const char *wanted)
{
    CHECK(strcmp(seen, wanted) == 0);
    if (strcmp(seen, wanted) != 0)
        printf("  %s: %s\n  wanted: %s\n", what, seen, wanted);
    check_ends(what);
}
