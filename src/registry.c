#pragma once
#include "registry.h"
#include "block.c"
#include "json.c"
#include "tools.c"
#include "compile.c"
#include "say.c"

/* ==========================================================================
 * >>registry
 */

/* ---- schemas of a row ---- */

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
static int tcall_worse_(int first, int second)
{
    return first == TCALL_OK || second == TCALL_E_MEMORY ? second : first;
}

/* Takes bytes from the lasting part of the block. What is missing adds up, so
 * that need says what would have done for all of it. */
static bool tcall_lasts_(tcall *tc, size_t bytes)
{
    if (!tcall_block_room_(&tc->block, tc->missing + bytes)) {
        tc->missing += bytes;
        return false;
    }
    return tcall_block_grow_(&tc->block, bytes);
}

/* Takes a zeroed table from the lasting part of the block; NULL when there is
 * no room. */
static void *tcall_table_(tcall *tc, size_t count, size_t size)
{
    char *table = tcall_block_gap_(&tc->block);
    size_t bytes = tcall_round_up_(count * size);
    if (!bytes || !tcall_lasts_(tc, bytes))
        return NULL;
    memset(table, 0, bytes);
    return table;
}

/* Compiles into the free part of the block; the nodes, at its beginning, are
 * not held yet. */
static int tcall_tool_compile_for_(tcall *tc, tcall_schema *out,
                                   const char *text,
                                   const tcall_author_ *author)
{
    tcall_block *block = &tc->block;
    int r = tcall_schema_compile_for_(out, tcall_str_of(text),
                                      tcall_block_gap_(block),
                                      tcall_block_free_(block), author);
    if (r == TCALL_E_MEMORY || r >= 0)
        if (!tcall_block_room_(block, r < 0 ? out->need : (size_t)r))
            r = TCALL_E_MEMORY;
    return r;
}

/* A schema of a row that is judged. */
typedef struct tcall_judged_ {
    tcall *tc;
    const tcall_tool *tool;
    const char *which;
} tcall_judged_;

/* Reports a fault of a schema, in its own words. */
static void tcall_schema_tell_(void *user, const tcall_schema *fault)
{
    const tcall_judged_ *judged = (const tcall_judged_ *)user;
    tcall_writer *out = tcall_report_(judged->tc, judged->tool->name);
    if (out) {
        tcall_write_text(out, judged->which);
        tcall_write_text(out, ": ");
        tcall_write_schema_error(out, fault);
        tcall_write_text(out, "\n");
    }
}

/* How deep $ref and allOf are followed. */
enum { TCALL_ROOT_DEPTH_ = 4 };

/* Returns whether a list of values in JSON text has an object. */
static bool tcall_lists_object_(const char *list)
{
    const char *at = tcall_text_next_(list + 1);
    while (*at != ']' && *at != '{')
        at = tcall_text_next_(tcall_text_skip_(at));
    return *at == '{';
}

/* Returns whether an object may be right for a node: only what says so whatever
 * is in the object counts. */
static bool tcall_takes_objects_(const tcall_node *node, int depth)
{
    bool takes = node->types & TCALL_SHAPE_OBJECT;
    const tcall_row *row = depth ? node->rows : NULL;
    uint16_t i;
    for (; takes && row; row = tcall_row_next_(row))
        switch (row->on) {
        case TCALL_ON_REF_:
            takes = tcall_takes_objects_(row->of.node, depth - 1);
            break;
        case TCALL_ON_ALLOF_:
            for (i = 0; takes && i < row->count; i++)
                takes =
                    tcall_takes_objects_(&row->of.members[i].node, depth - 1);
            break;
        case TCALL_ON_NOT_: /* of all objects, not of some */
            takes = row->of.members->node.rows ||
                    !tcall_takes_objects_(&row->of.members->node, 0);
            break;
        case TCALL_ON_CONST_: takes = *row->of.text == '{'; break;
        case TCALL_ON_ENUM_: takes = tcall_lists_object_(row->of.text); break;
        default: break;
        }
    return takes;
}

/* A schema of a row must compile, and parameters must take an object. A
 * validator of the user's decides itself what it can check. */
static int tcall_schema_add_(tcall_judged_ *judged, tcall_schema *schema,
                             const char *text)
{
    tcall *tc = judged->tc;
    tcall_author_ author = {TCALL_DRAFT_2020, tcall_schema_tell_, NULL};
    int r;
    author.user = judged;
    if (tc->desc.validator) {
        r = tcall_json_check(tcall_str_of(text));
        if (r < 0)
            tcall_schema_fault_(schema, &author, 0, "is not JSON", NULL);
        return r < 0 ? TCALL_E_SCHEMA : TCALL_OK;
    }
    r = tcall_tool_compile_for_(tc, schema, text, &author);
    if (r < 0)
        return r;
    if (text != judged->tool->parameters ||
        tcall_takes_objects_(schema->root, TCALL_ROOT_DEPTH_))
        return TCALL_OK;
    tcall_schema_fault_(schema, &author,
                        (size_t)(tcall_text_space_(text) - text),
                        "parameters must take an object:", "arguments are one");
    return TCALL_E_SCHEMA;
}

/* Compiles one schema of a row, for the report. */
static int tcall_row_schema_(tcall *tc, const tcall_tool *tool,
                             const char *which, const char *text,
                             tcall_schema *schema)
{
    tcall_judged_ judged = {tc, tool, which};
    int r;
    memset(schema, 0, sizeof *schema);
    r = text ? tcall_schema_add_(&judged, schema, text) : TCALL_OK;
    if (r == TCALL_E_SCHEMA)
        return TCALL_E_TOOL;
    /* after what is missing already it would have come */
    if (!tcall_block_room_(&tc->block, tc->missing + schema->need))
        return TCALL_E_MEMORY;
    return r;
}

/* All schemas of a row are compiled, so that a wrong one shows at the start;
 * only the one that checks calls is held in the block, with the registry's. */
static int tcall_row_schemas_(tcall *tc, const tcall_tool *tool, bool hold)
{
    tcall_schema schema;
    int r =
        tcall_row_schema_(tc, tool, "parameters", tool->parameters, &schema);
    if (hold && tcall_lasts_(tc, r < 0 ? schema.need : schema.used) &&
        tc->nodes)
        tc->nodes[tool - tc->desc.tools] = schema.root;
    r = tcall_worse_(
        r, tcall_row_schema_(tc, tool, "output", tool->output, &schema));
    return tcall_worse_(r, tcall_row_schema_(tc, tool, "provider_schema",
                                             tool->provider_schema, &schema));
}

/* Are schemas compiled once, at the start? Otherwise that is done when a call
 * comes, or somebody else checks. */
static bool tcall_holds_schemas_(const tcall *tc)
{
    return !tc->desc.lazy_schemas && !tc->desc.validator;
}

static int tcall_schemas_(tcall *tc, size_t rows)
{
    if (!tcall_holds_schemas_(tc))
        return TCALL_OK;
    tc->nodes = (const tcall_node **)tcall_table_(tc, rows, sizeof *tc->nodes);
    return tc->nodes ? TCALL_OK : TCALL_E_MEMORY;
}

/* Returns whether the schema of a tool was compiled at the start. */
TCALL_SHARED_ bool tcall_is_compiled_(const tcall *tc, const tcall_tool *tool)
{
    return tc->nodes && tc->nodes[tool - tc->desc.tools];
}

/* Forgets the schema of a tool that is removed. */
static void tcall_schema_drop_(tcall *tc, size_t row)
{
    if (tc->nodes)
        tc->nodes[row] = NULL;
}

/* ---- the order of hooks ---- */

/* When a stage is due: towards the run (GOING), after it, always ... The
 * states of a call are bits, and each stage has the set of states that it is
 * due in: that, and the order of the list, is the whole lifecycle. */
enum {
    TCALL_GOING_ = 1,    /* towards the run of the tool */
    TCALL_HIT_ = 2,      /* answered by a hook at WILL_READ_CACHE */
    TCALL_ANSWERED_ = 4, /* there is an output, and no error */
    TCALL_FAILED_ = 8,
    TCALL_DONE_ = 16,
    TCALL_LATE_ = 32, /* of a stage: higher priority comes later */

    TCALL_INNER_ = 0, /* not by the list: inside AROUND_EXECUTE */
    TCALL_WELL_ = TCALL_GOING_ | TCALL_HIT_ | TCALL_ANSWERED_,
    TCALL_ALWAYS_ = TCALL_WELL_ | TCALL_FAILED_,
    TCALL_DID_INNER_ = TCALL_LATE_ | TCALL_INNER_,
    TCALL_DID_GOING_ = TCALL_LATE_ | TCALL_GOING_,
    TCALL_DID_HIT_ = TCALL_LATE_ | TCALL_HIT_,
    TCALL_DID_ALWAYS_ = TCALL_LATE_ | TCALL_ALWAYS_
};

#ifndef TOOLCALL_NO_HOOKS

/* The states that each stage is due in. */
static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

/* True when hook a runs before hook b, which is earlier in the tables. */
static bool tcall_hook_before_(const tcall_hook *first,
                               const tcall_hook *second)
{
    if (first->stage != second->stage)
        return first->stage < second->stage;
    if (tcall_due_[first->stage] & TCALL_LATE_)
        return first->priority < second->priority;
    return first->priority > second->priority;
}

/* Inserts hooks into the order: tables of hooks are short, and mostly sorted.
 * Equal ones keep the order of the tables. */
static void tcall_order_insert_(tcall_order_ *order, const tcall_hook *hooks,
                                size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const tcall_hook **at = order->hooks + order->count++;
        for (; at > order->hooks && tcall_hook_before_(&hooks[i], at[-1]); at--)
            at[0] = at[-1];
        at[0] = &hooks[i];
        order->stages |= (uint32_t)1 << hooks[i].stage;
    }
}

/* Reports what is wrong with a hook, which is named with its tool or table. */
static int tcall_hook_check_(tcall *tc, const char *name,
                             const tcall_hook *hook)
{
    char which[64];
    tcall_review_ review;
    tcall_writer out;
    tcall_writer_init(&out, which, sizeof which - 1);
    tcall_write_text(&out, name ? name : "(no name)");
    tcall_write_text(&out, ": hook ");
    tcall_write_text(&out, hook->name ? hook->name : "(no name)");
    which[out.fill] = '\0';
    review = tcall_review_of_(tc, which);
    TCALL_REFUSE_(&review, !hook->run,
                  "run is missing: name the function to call");
    TCALL_REFUSE_(&review, hook->stage >= TCALL_STAGE_COUNT,
                  "its stage is none of TCALL_STAGES");
    return review.error;
}

/* The same for a table of hooks. */
static int tcall_hooks_check_(tcall *tc, const char *name,
                              const tcall_hook *hooks, size_t count)
{
    int r = TCALL_OK;
    size_t i;
    for (i = 0; i < count; i++)
        if (tcall_hook_check_(tc, name, &hooks[i]) < 0)
            r = TCALL_E_TOOL;
    return r;
}

/* Bytes of the order of a tool's hooks. */
static size_t tcall_order_size_(const tcall *tc, const tcall_tool *tool)
{
    size_t count = (size_t)tc->desc.hook_count + tool->hook_count;
    return tcall_round_up_(count * sizeof(const tcall_hook *));
}

/* Orders the hooks of the registry and of one tool, which may be NULL. The
 * room of a row that was used before is used again. */
static int tcall_order_hooks_(tcall *tc, const tcall_tool *tool,
                              tcall_order_ *order)
{
    const tcall_desc *desc = &tc->desc;
    size_t count = (size_t)desc->hook_count + (tool ? tool->hook_count : 0);
    if (count > order->room) {
        order->hooks = (const tcall_hook **)tcall_table_(
            tc, count, sizeof(const tcall_hook *));
        order->room = (uint16_t)(order->hooks ? count : 0);
    }
    if (count > order->room)
        return TCALL_E_MEMORY;
    order->count = 0;
    order->stages = 0;
    tcall_order_insert_(order, desc->hooks, desc->hook_count);
    if (tool)
        tcall_order_insert_(order, tool->hooks, tool->hook_count);
    return TCALL_OK;
}

/* Checks the hooks of a tool and puts them in order with the registry's. */
static int tcall_row_hooks_(tcall *tc, const tcall_tool *tool)
{
    int r = tcall_hooks_check_(tc, tool->name, tool->hooks, tool->hook_count);
    if (r < 0 || !tool->hook_count)
        return r;
    if (!tc->orders) { /* the start has failed: it only has to be counted */
        tcall_lasts_(tc, tcall_order_size_(tc, tool));
        return r;
    }
    return tcall_order_hooks_(tc, tool, &tc->orders[tool - tc->desc.tools]);
}

/* The same for the registry. Rows have orders of their own only where a tool
 * has hooks, or may come with some. */
static int tcall_desc_hooks_(tcall *tc)
{
    const tcall_desc *desc = &tc->desc;
    size_t i, rows = desc->row_count;
    int r = tcall_hooks_check_(tc, "tcall_desc", desc->hooks, desc->hook_count);
    for (i = 0; i < desc->tool_count && !rows; i++)
        rows = desc->tools[i].hook_count ? desc->tool_count : 0;
    if (r < 0)
        return r;
    if (rows) {
        tc->orders = (tcall_order_ *)tcall_table_(tc, rows, sizeof *tc->orders);
        r = tc->orders ? TCALL_OK : TCALL_E_MEMORY;
    }
    return tcall_worse_(r, tcall_order_hooks_(tc, NULL, &tc->order));
}

#else

/* Without hooks there is nothing to order: a table of them is a fault. */
static int tcall_row_hooks_(tcall *tc, const tcall_tool *tool)
{
    (void)tc;
    (void)tool;
    return TCALL_OK;
}

static int tcall_desc_hooks_(tcall *tc)
{
    (void)tc;
    return TCALL_OK;
}

#endif

/* ---- the registry ---- */

/* Takes the tables that are as long as there may be tools. */
static int tcall_tables_(tcall *tc)
{
    tcall_desc *desc = &tc->desc;
    size_t rows = desc->rows ? desc->row_count : desc->tool_count;
    if (desc->rows && desc->tool_count)
        memmove(desc->rows, desc->tools, desc->tool_count * sizeof *desc->rows);
    if (desc->rows)
        desc->tools = desc->rows;
    if (!rows)
        return TCALL_OK;
    tc->names = (uint16_t *)tcall_table_(tc, rows, sizeof *tc->names);
    return tcall_worse_(tcall_schemas_(tc, rows),
                        tc->names ? TCALL_OK : TCALL_E_MEMORY);
}

/* Checks a row of the table, reports all that is wrong with it, and makes it
 * ready to be called. */
static int tcall_row_add_(tcall *tc, size_t row, bool hold)
{
    const tcall_tool *tool = &tc->desc.tools[row];
    int r = tcall_row_check_(tc, tool);
    r = tcall_worse_(r, tcall_row_schemas_(tc, tool, hold));
    r = tcall_worse_(r, tcall_row_hooks_(tc, tool));
    if (r == TCALL_OK)
        tcall_row_notes_(tc, tool);
    return r;
}

int tcall_init(tcall *tc, const tcall_desc *desc)
{
    size_t i;
    int r;
    if (tcall_is_busy_(tc))
        return TCALL_E_USAGE;
    memset(tc, 0, sizeof *tc);
    tc->busy = tc; /* desc->report is the program's */
    tc->desc = *desc;
    tcall_block_init(&tc->block, desc->block, desc->block_size);
    r = tcall_desc_check_(tc);
    if (r == TCALL_OK) {
        r = tcall_tables_(tc);
        r = tcall_worse_(r, tcall_desc_hooks_(tc));
    }
    for (i = 0; tc->desc.tools && i < desc->tool_count; i++) {
        r = tcall_worse_(r, tcall_row_add_(tc, i, tcall_holds_schemas_(tc)));
        tcall_name_insert_(tc, i);
    }
    /* After an error nothing can be found, and so nothing can be called. */
    tc->ready = r == TCALL_OK;
    tc->error = r;
    tc->busy = NULL;
    if (r < 0)
        tc->desc.tool_count = tc->name_count = 0;
    return r;
}

/* What a call takes besides its texts, and what tcall_pick takes. */
#define TCALL_CALL_ROOM_ 2048

/* Returns how much of the block calls with so many bytes of text may take. */
TCALL_SHARED_ size_t tcall_call_room_(const tcall_desc *desc, size_t bytes)
{
    size_t room = TCALL_CALL_ROOM_ + 2 * bytes, i;
    for (i = 0; i < desc->tool_count; i++)
        if (desc->tools[i].output) /* it is read as a value, to be checked */
            return room + 4 * bytes;
    return room;
}

size_t tcall_need(const tcall_desc *desc, size_t bytes)
{
    size_t lasting;
    tcall_desc copy = *desc;
    tcall tc;
    tc.busy = NULL;
    copy.block = NULL;
    copy.block_size = 0;
    copy.report = NULL;
    if (tcall_init(&tc, &copy) == TCALL_E_TOOL)
        return 0;
    lasting = tcall_round_up_(tc.missing + tcall_call_room_(desc, bytes));
    return lasting > tc.block.need ? lasting : tc.block.need;
}

/* A row that is free: it needs a permission that nobody can be given. */
#define TCALL_GONE_ (TCALL_EVERYTHING + 1)

/* Makes a row free. */
static void tcall_row_clear_(tcall_tool *row)
{
    memset(row, 0, sizeof *row);
    row->name = "";
    row->permissions = TCALL_GONE_;
}

/* Returns the first row that is free. A call under way may still need the row
 * of a tool that was removed. */
static size_t tcall_row_free_(const tcall *tc)
{
    size_t row = tc->desc.tool_count;
    if (tc->block.high == 0)
        for (row = 0; row < tc->desc.tool_count; row++)
            if (tc->desc.rows[row].permissions == TCALL_GONE_)
                break;
    return row;
}

int tcall_add(tcall *tc, const tcall_tool *tool)
{
    size_t row;
    int r = tcall_usable_(tc);
    if (r < 0 || !tc->desc.rows)
        return r < 0 ? r : TCALL_E_USAGE;
    /* Where an agent talks, what the block held before it cannot grow. */
    if (tc->offer && tool->hook_count)
        return TCALL_E_USAGE;
    row = tcall_row_free_(tc);
    if (row == tc->desc.row_count)
        return TCALL_E_MEMORY;
    tc->desc.rows[row] = *tool; /* it is judged in its place */
    tc->missing = 0;
    r = tcall_row_add_(tc, row, false);
    if (r < 0) {
        tcall_row_clear_(&tc->desc.rows[row]);
        return r;
    }
    tcall_name_insert_(tc, row);
    if (row == tc->desc.tool_count)
        tc->desc.tool_count++;
    return (int)row;
}

int tcall_remove(tcall *tc, tcall_str name)
{
    const tcall_tool *tool = tcall_find(tc, name);
    tcall_tool *row;
    if (!tool || !tc->desc.rows)
        return TCALL_E_UNKNOWN;
    row = tc->desc.rows + (tool - tc->desc.rows);
    tcall_name_remove_(tc, name);
    /* The rest stays for calls that are under way. */
    row->name = "";
    row->permissions = TCALL_GONE_;
    row->pinned = false;
    tcall_schema_drop_(tc, (size_t)(tool - tc->desc.rows));
    if (tc->offer)
        tcall_set_offer_(tc->offer, (size_t)(tool - tc->desc.rows), false);
    return TCALL_OK;
}

/* ---- time and events ---- */

/* Returns milliseconds, or 0 without a clock. */
TCALL_SHARED_ uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

#ifndef TOOLCALL_NO_EVENTS

/* Returns whether anybody listens. */
TCALL_SHARED_ bool tcall_is_heard_(const tcall *tc)
{
    return tc->desc.on_event || tc->listeners;
}

/* An event that is being told. Whoever is told may cause another one. */
typedef struct tcall_dispatch_ {
    tcall_listener *next; /* who is told next */
    struct tcall_dispatch_ *outer;
} tcall_dispatch_;

/* Sends an event to all who want it. */
TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    tcall_dispatch_ dispatch = {tc->listeners, tc->dispatch};
    event->kind = kind;
    tc->dispatch = &dispatch;
    if (tc->desc.on_event)
        tc->desc.on_event(tc->desc.user, event);
    while (dispatch.next) {
        tcall_listener *listener = dispatch.next;
        dispatch.next = listener->next;
        if (listener->on_event &&
            (!listener->kinds || listener->kinds >> kind & 1))
            listener->on_event(listener->user, event);
    }
    tc->dispatch = dispatch.outer;
}

void tcall_subscribe(tcall *tc, tcall_listener *listener)
{
    tcall_unsubscribe(tc, listener);
    listener->next = tc->listeners;
    tc->listeners = listener;
}

void tcall_unsubscribe(tcall *tc, tcall_listener *listener)
{
    tcall_listener **at = &tc->listeners;
    tcall_dispatch_ *dispatch;
    while (*at && *at != listener)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = listener->next;
    for (dispatch = tc->dispatch; dispatch; dispatch = dispatch->outer)
        if (dispatch->next == listener)
            dispatch->next = listener->next;
}

#else

/* Without events nobody listens. */
TCALL_SHARED_ bool tcall_is_heard_(const tcall *tc)
{
    (void)tc;
    return false;
}

TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    (void)tc;
    (void)event;
    (void)kind;
}

#endif /* TOOLCALL_NO_EVENTS */
