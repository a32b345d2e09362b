/* Needs: SENTENCES. */
/* Calls that hold a lot, in blocks of every size: each ends as it does where
 * there is room, or says that there is none; enough stays enough, and all that
 * was taken is given back. */
#include "toolcall.h"

#include "check.h"

TCALL_LIST(levels, integer(0, 9), 0, 60)
#define LAMP(ROW, me)                             \
    ROW(me, required, integer(0, 99), n, "level") \
    ROW(me, optional, text(0, 9), name, "which")  \
    ROW(me, optional, list(levels), levels, "of each")
TCALL_SHAPE(lamp, LAMP)

#define SPAN(ROW, me)                          \
    ROW(me, required, integer(1, 9), from, "") \
    ROW(me, required, integer(1, 9), to, "")
TCALL_SHAPE(span, SPAN)
TCALL_LIST(spans, object(span), 0, 2)
#define PLAN(ROW, me)                                \
    ROW(me, required, integer(1, 9), n, "")          \
    ROW(me, optional, text(0, 9), name, "")          \
    ROW(me, optional, or_null(text(0, 9)), note, "") \
    ROW(me, optional, object(span), span, "")        \
    ROW(me, optional, list(spans), spans, "")
TCALL_SHAPE(plan, PLAN)

static int lamp_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)args;
    tcall_write_int(out, ((const struct lamp *)cx->bound)->n);
    return tcall_set_result(cx, tcall_str_of("Lamp"),
                            tcall_str_of("{\"watts\":5}"));
}

static int plan_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const struct plan *plan = (const struct plan *)cx->bound;
    (void)args;
    tcall_write_int(out,
                    plan->n + plan->span.to +
                        (plan->spans.count ? plan->spans.items[0].from : 0));
    return TCALL_OK;
}

/* The second answer is a part of the first one. */
static int twice_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    tcall_str half;
    int r = tcall_write_json(out, args);
    if (r == TCALL_OK)
        r = tcall_set_output(cx, tcall_str_of("[\"once\",\"twice\"]"));
    half = tcall_output(cx);
    half.ptr += 8;
    half.len = 7;
    return r < 0 ? r : tcall_set_output(cx, half);
}

/* ---- hooks ---- */

static const char *changed; /* what the arguments become, and: */
static const char *secret;
static bool waited;

static int change(tcall_ctx *cx, void *user)
{
    const char *text =
        cx->stage == TCALL_WILL_INJECT_SECRETS ? secret : changed;
    (void)user;
    return text ? tcall_set_input(cx, tcall_str_of(text)) : TCALL_OK;
}

static int bind_radio(tcall_ctx *cx, void *user)
{
    static tcall_service radio = {"radio", &radio, NULL};
    (void)user;
    return tcall_bind_service(cx, &radio, TCALL_SCOPE_CALL);
}

/* Waits once, with the output in the block meanwhile. */
static int wait_once(tcall_ctx *cx, void *user)
{
    (void)user;
    waited = !waited;
    return waited && tcall_output(cx).len ? TCALL_E_AGAIN : TCALL_OK;
}

static const char *repaired;

static int repair(void *user, const tcall_call *call, tcall_writer *out)
{
    (void)user, (void)call;
    return repaired ? tcall_write_text(out, repaired) : TCALL_E_FAILED;
}

static const tcall_repair repairs = TCALL_REPAIR(repair);

/* ---- the calls ---- */

static const struct row {
    const char *tool, *arguments, *changed, *secret, *repaired, *result;
    int error, scarce; /* scarce: what it may be instead where memory is */
} rows[] = {
    {"lamp", "{'n':\"7\",\"name\":\"hall\"}", NULL, NULL, NULL, "7", TCALL_OK,
     TCALL_E_MEMORY},
    {"lamp", "{\"n\":1}", "{\"n\":\"2\",\"name\":\"a\"}", NULL, NULL, "2",
     TCALL_OK, TCALL_E_MEMORY},
    {"lamp", "{\"n\":1}", NULL, "{\"n\":3,\"name\":\"b\"}", NULL, "3", TCALL_OK,
     TCALL_E_MEMORY},
    {"lamp", "{\"n\":1}", NULL, "{\"n\":true}", NULL, "\"success\":false",
     TCALL_E_INVALID, TCALL_E_MEMORY},
    {"lamp", "{\"n\":99999999999}", NULL, NULL, NULL, "/n", TCALL_E_INVALID,
     TCALL_E_MEMORY},
    {"lamp", "{}", NULL, NULL, "{\"n\":5}", "5", TCALL_OK, TCALL_E_INVALID},
    {"lamp", "{}", NULL, NULL, "[1]", "Example", TCALL_E_INVALID,
     TCALL_E_MEMORY},
    {"lamp", "{}", NULL, NULL, NULL, "Example", TCALL_E_INVALID,
     TCALL_E_MEMORY},
    {"plan",
     "{\"n\":\"1\",\"name\":null,\"span\":{\"from\":\"1\",\"to\":\"2\"},"
     "\"spans\":[{\"from\":\"4\",\"to\":5}]}",
     NULL, NULL, NULL, "7", TCALL_OK, TCALL_E_MEMORY},
    {"plan", "{\"n\":\"1\",\"spans\":[3,{\"from\":[],\"to\":{}}]}", NULL, NULL,
     NULL, "/spans/0", TCALL_E_INVALID, TCALL_E_MEMORY},
    {"plan", "{\"n\":\"x\"}", NULL, NULL, NULL, "/n", TCALL_E_INVALID,
     TCALL_E_MEMORY},
    {"plan", "{\"n\":1,\"span\":5,\"spans\":6}", NULL, NULL, NULL, "/spans",
     TCALL_E_INVALID, TCALL_E_MEMORY},
    {"plan", "{\"n\":1,\"spans\":[null]}", NULL, NULL, NULL, "/spans/0",
     TCALL_E_INVALID, TCALL_E_MEMORY},
    {"plan", "{\"n\":\"1\",\"note\":null}", NULL, NULL, NULL, "1", TCALL_OK,
     TCALL_E_MEMORY},
    {"plan", "[\"1\"]", NULL, NULL, NULL, "one JSON object", TCALL_E_NOT_OBJECT,
     TCALL_E_MEMORY},
    {"plan", "{\"n\":\"1\",\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1}", NULL,
     NULL, NULL, "not a property", TCALL_E_INVALID, TCALL_E_MEMORY},
    {"plan", "{\"n\":true,\"span\"", NULL, NULL, NULL, "near",
     TCALL_E_TRUNCATED, TCALL_E_MEMORY},
    {"twice", "{\"n\":1}", NULL, NULL, NULL, "\"twice\"", TCALL_OK,
     TCALL_E_MEMORY},
    {"twice", "{\"n\":1}", "{\"n\":[1,2,3,4]}", NULL, NULL, "\"twice\"",
     TCALL_OK, TCALL_E_MEMORY},
};

static const tcall_hook hooks[] = {
    {.name = "radio", .stage = TCALL_WILL_BIND_SERVICES, .run = bind_radio},
    {.name = "change", .stage = TCALL_WILL_NORMALIZE_INPUT, .run = change},
    {.name = "secret", .stage = TCALL_WILL_INJECT_SECRETS, .run = change},
    {.name = "wait", .stage = TCALL_WILL_TRANSFORM_OUTPUT, .run = wait_once}};

static tcall tc;

static void set_desc(tcall_desc *desc, tcall_tool *tools)
{
    memset(tools, 0, 3 * sizeof *tools);
    tools[0].name = "lamp";
    tools[0].parameters = (tcall_schema_text)TCALL_STRUCT(lamp);
    tools[0].run = lamp_run;
    tools[1].name = "plan";
    tools[1].parameters = (tcall_schema_text)TCALL_STRUCT(plan);
    tools[1].run = plan_run;
    tools[2].name = "twice";
    tools[2].parameters = tcall_schema_text_of("{\"type\":\"object\"}");
    tools[2].output = tcall_schema_text_of("{\"enum\":[\"twice\"]}");
    tools[2].run = twice_run;
    memset(desc, 0, sizeof *desc);
    desc->tools = tools;
    desc->tool_count = 3;
    desc->allow = TCALL_EVERYTHING;
    desc->hooks = hooks;
    desc->hook_count = TCALL_ARRAY_LEN(hooks);
    desc->stages = &tcall_stages;
    desc->repair = &repairs;
}

/* An example is left out where there is no room to check it. */
static bool is_without_example(const struct row *row, const char *text)
{
    return strcmp(row->result, "Example") == 0 && strstr(text, "is missing") &&
           !strstr(text, "suggestion");
}

/* One call in a block of this size; returns how it ended. */
static int lived(const struct row *row, char *block, size_t size)
{
    static char text[512];
    tcall_tool tools[3];
    tcall_desc desc;
    tcall_call call;
    tcall_writer out;
    int r;
    set_desc(&desc, tools);
    tools[0].permissions = tools[1].permissions = tools[2].permissions =
        TCALL_READ;
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.block_size = size;
    changed = row->changed;
    secret = row->secret;
    repaired = row->repaired;
    waited = false;
    r = tcall_init(&tc, &desc);
    if (r < 0)
        return r;
    memset(&call, 0, sizeof call);
    memset(text, 0, sizeof text);
    call.name = tcall_str_of(row->tool);
    call.arguments = tcall_str_of(row->arguments);
    tcall_writer_init(&out, text, sizeof text - 1);
    tcall_hydrate(&tc, &call);
    do
        r = tcall_invoke(&tc, &call, &out);
    while (r == TCALL_E_AGAIN);
    text[out.fill] = 0;
    CHECK(r == call.error && out.error == TCALL_OK);
    CHECK(r != row->error || strstr(text, row->result) ||
          (size < 5000 && is_without_example(row, text)));
    tcall_release(&tc, &call);
    CHECK(tc.block.high == 0);
    return r;
}

/* A call that fails in any case may say in a larger block that there was no
 * room to repair it. */
static void test_sizes(const struct row *row)
{
    size_t size, works = 0;
    for (size = 0; size < 6000; size += 8 * CHECK_EVERY) {
        char *block = (char *)malloc(size + 1); /* for sanitizers */
        int r = lived(row, block, size);
        CHECK(r == row->error || r == TCALL_E_MEMORY || r == row->scarce);
        CHECK(r == row->error || !works || row->error < 0);
        works += r == row->error;
        free(block);
    }
    CHECK(works > 0);
}

int main(void)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(rows); i++)
        test_sizes(&rows[i]);
    return check_sum("test_call_sizes");
}
