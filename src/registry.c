#pragma once
#include "registry.h"
#include "block.c"
#include "schemas.c"

/* ==========================================================================
 * >>registry
 */

/* ---- schemas of a row ---- */

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
TCALL_SHARED_ int tcall_worse_(int first, int second)
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

/* Compiles one schema of a row, for the report. */
static int tcall_row_schema_(tcall *tc, const tcall_tool *tool,
                             const char *which, tcall_schema_text source,
                             tcall_schema *schema)
{
    tcall_judged_ judged;
    int r = TCALL_OK;
    judged.tc = tc;
    judged.tool = tool;
    judged.which = which;
    memset(schema, 0, sizeof *schema);
    if (source.text && source.reader)
        r = source.reader->judge(&judged, schema, source);
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

/* Checks the hooks of a tool, NULL: of the registry. */
static int tcall_row_hooks_(tcall *tc, const tcall_tool *tool)
{
    return tc->desc.stages ? tc->desc.stages->add(tc, tool) : TCALL_OK;
}

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
    if (r == TCALL_OK && tc->desc.report)
        tc->desc.report->notes(tc, tool);
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
        r = tcall_worse_(r, tcall_row_hooks_(tc, NULL));
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
        if (desc->tools[i]
                .output.text) /* it is read as a value, to be checked */
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
    copy.faults = NULL;
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
