#pragma once
#include "tools.h"
#include "bind.c"
#include "schema_errors.c"

/* ==========================================================================
 * >>tools
 */

/* Returns what the tool needs: everything when it declares nothing. */
TCALL_SHARED_ unsigned tcall_needs_(const tcall_tool *tool)
{
    return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;
}

bool tcall_enabled(const tcall_tool *tool, unsigned allow)
{
    return (tcall_needs_(tool) & ~(allow & TCALL_EVERYTHING)) == 0;
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    size_t i;
    if (!name.len) /* a row that is free */
        return NULL;
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_str_eq(tcall_str_of(tc->desc.tools[i].name), name))
            return &tc->desc.tools[i];
    return NULL;
}

/* Every provider takes such a name; some take more. */
static bool tcall_name_ok_(const char *name)
{
    size_t i;
    for (i = 0; name[i] && i <= 64; i++) {
        char c = (char)(name[i] | 0x20);
        bool letter = (c >= 'a' && c <= 'z') || name[i] == '_';
        bool other = tcall_is_digit_(name[i]) || name[i] == '-';
        if (!letter && !(other && i > 0))
            return false;
    }
    return i > 0 && i <= 64;
}

/* One line of the report: "name: what"; a refused schema says why itself. */
static int tcall_fault_line_(tcall *tc, const tcall_tool *tool,
                             const char *what, const tcall_schema *refused)
{
    tcall_writer *w = tc->desc.report;
    if (w) {
        tcall_write_text(w, tool->name ? tool->name : "(no name)");
        tcall_write_text(w, ": ");
        tcall_write_text(w, what);
        if (refused)
            tcall_write_schema_error(w, refused);
        tcall_write_char_(w, '\n');
    }
    return TCALL_E_TOOL;
}

/* Compile into the free part of the block; the program is not held yet. */
TCALL_SHARED_ int tcall_tool_compile_(tcall *tc, tcall_schema *out,
                                      const char *text)
{
    tcall_block *b = &tc->block;
    int r = tcall_schema_compile(out, tcall_str_of(text), tcall_block_gap_(b),
                                 tcall_block_free_(b), TCALL_DRAFT_2020);
    if (r == TCALL_E_MEMORY || r >= 0)
        if (!tcall_block_room_(b, r < 0 ? out->need : (size_t)r))
            r = TCALL_E_MEMORY;
    return r;
}

/* A schema of a row must compile. A foreign validator decides itself what it
 * can check. */
static int tcall_schema_add_(tcall *tc, tcall_schema *s, const char *text)
{
    int r;
    if (!tc->desc.validator)
        return tcall_tool_compile_(tc, s, text);
    r = tcall_scan_whole_(tcall_str_of(text));
    s->text = NULL;
    s->reason = "is not JSON";
    return r < 0 ? TCALL_E_SCHEMA : TCALL_OK;
}

/* What is wrong with a row but for its schemas: bits, and their words. */
static const char tcall_row_faults_[] =
    "the name must be 1 to 64 of A-Z a-z 0-9 _ -, the first no 0-9 -\0"
    "another tool has this name\0"
    "run is missing\0"
    "parameters or allow_no_schema is missing\0"
    "fields need args_size: sizeof the struct that they describe";

static unsigned tcall_tool_check_(const tcall *tc, const tcall_tool *tool)
{
    unsigned wrong = !tool->name || !tcall_name_ok_(tool->name);
    const tcall_tool *first = tcall_find(tc, tcall_str_of(tool->name));
    if (first && first != tool)
        wrong |= 1u << 1;
    if (!tool->run)
        wrong |= 1u << 2;
    if (!tool->parameters && !tool->allow_no_schema)
        wrong |= 1u << 3;
    if (tool->fields && !tool->args_size)
        wrong |= 1u << 4;
    return wrong;
}

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
static int tcall_worse_(int a, int b)
{
    return a == TCALL_OK || b == TCALL_E_MEMORY ? b : a;
}

/* All faults of a row; keep holds the program of its parameters in the block.
 */
static int tcall_tool_add_(tcall *tc, size_t index, tcall_schema *keep)
{
    const tcall_tool *tool = &tc->desc.tools[index];
    const char *const texts[] = {tool->parameters, tool->output,
                                 tool->provider_schema};
    unsigned wrong = tcall_tool_check_(tc, tool);
    int i, r = TCALL_OK;
    for (i = 0; wrong >> i; i++)
        if (wrong >> i & 1)
            r = tcall_fault_line_(tc, tool, tcall_nth_(tcall_row_faults_, i),
                                  NULL);
    for (i = 0; i < 3; i++) {
        tcall_schema scratch, *s = keep && i == 0 ? keep : &scratch;
        int n = texts[i] ? tcall_schema_add_(tc, s, texts[i]) : TCALL_OK;
        if (n == TCALL_E_SCHEMA)
            n = tcall_fault_line_(
                tc, tool,
                tcall_nth_("parameters: \0output: \0provider_schema: ", i), s);
        else if (n > 0 && s == keep)
            tcall_block_grow_(&tc->block, (size_t)n);
        r = tcall_worse_(r, n < 0 ? n : TCALL_OK);
    }
    return r;
}

int tcall_init(tcall *tc, const tcall_desc *desc)
{
    size_t i, table;
    int r = TCALL_OK;
    memset(tc, 0, sizeof *tc);
    tc->desc = *desc;
    tcall_block_init(&tc->block, desc->block, desc->block_size);
    table = (desc->tool_count * sizeof(tcall_schema) + 7) & ~(size_t)7;
    if (!desc->lazy_schemas && !desc->validator) {
        tc->schemas = (tcall_schema *)(void *)tcall_block_gap_(&tc->block);
        if (!tcall_block_grow_(&tc->block, table)) {
            tc->schemas = NULL;
            r = TCALL_E_MEMORY;
        }
    }
    for (i = 0; i < desc->tool_count; i++)
        r = tcall_worse_(
            r, tcall_tool_add_(tc, i, tc->schemas ? &tc->schemas[i] : NULL));
    if (r < 0)
        tc->desc.tool_count = 0;
    return r;
}

/* A row that is free: needs what nobody can be given. */
#define TCALL_GONE_ (TCALL_EVERYTHING + 1)

int tcall_extend(tcall *tc, tcall_tool *rows, size_t row_count)
{
    size_t used = tc->desc.tool_count * sizeof *tc->schemas;
    size_t table = (row_count * sizeof *tc->schemas + 7) & ~(size_t)7;
    char *more = tcall_block_gap_(&tc->block);
    if (tc->rows)
        return TCALL_E_USAGE;
    if (row_count < tc->desc.tool_count ||
        (tc->schemas && !tcall_block_grow_(&tc->block, table)))
        return TCALL_E_MEMORY;
    if (tc->schemas) {
        memset(more, 0, table);
        memcpy(more, tc->schemas, used);
        tc->schemas = (tcall_schema *)(void *)more;
    }
    if (tc->desc.tool_count)
        memmove(rows, tc->desc.tools, tc->desc.tool_count * sizeof *rows);
    tc->desc.tools = tc->rows = rows;
    tc->row_count = row_count;
    return TCALL_OK;
}

int tcall_add(tcall *tc, const tcall_tool *tool)
{
    size_t all = tc->desc.tool_count, i = all;
    int r = TCALL_E_TOOL;
    if (!tc->rows)
        return TCALL_E_USAGE;
    if (tool->name && tcall_find(tc, tcall_str_of(tool->name)))
        return tcall_fault_line_(tc, tool, tcall_nth_(tcall_row_faults_, 1),
                                 NULL);
    if (tc->block.high == 0) /* no call is under way */
        for (i = 0; i < all && tc->rows[i].permissions != TCALL_GONE_; i++)
            ;
    if (i == tc->row_count)
        return TCALL_E_MEMORY;
    tc->rows[i] = *tool;
    if (!(tool->permissions & ~TCALL_EVERYTHING))
        r = tcall_tool_add_(tc, i, NULL);
    if (r < 0) {
        memset(&tc->rows[i], 0, sizeof tc->rows[i]);
        tc->rows[i].name = "";
        tc->rows[i].permissions = TCALL_GONE_;
        return r;
    }
    if (i == all)
        tc->desc.tool_count++;
    return (int)i;
}

int tcall_remove(tcall *tc, tcall_str name)
{
    const tcall_tool *tool = tcall_find(tc, name);
    tcall_tool *row;
    if (!tool || !tc->rows)
        return TCALL_E_UNKNOWN;
    row = tc->rows + (tool - tc->rows);
    row->name = "";
    row->permissions = TCALL_GONE_;
    row->pinned = false;
    if (tc->schemas)
        memset(&tc->schemas[tool - tc->rows], 0, sizeof *tc->schemas);
    return TCALL_OK;
}

const tcall_tool *tcall_next_tool(const tcall *tc, size_t *i, unsigned allow)
{
    while (*i < tc->desc.tool_count) {
        const tcall_tool *tool = &tc->desc.tools[(*i)++];
        if (tcall_enabled(tool, allow))
            return tool;
    }
    return NULL;
}

TCALL_SHARED_ uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    tcall_listener *l, *next;
    event->kind = kind;
    if (tc->desc.on_event)
        tc->desc.on_event(tc->desc.user, event);
    for (l = tc->listeners; l; l = next) {
        next = l->next;
        if (!l->kinds || l->kinds >> kind & 1)
            l->on_event(l->user, event);
    }
}

void tcall_subscribe(tcall *tc, tcall_listener *listener)
{
    listener->next = tc->listeners;
    tc->listeners = listener;
}

void tcall_unsubscribe(tcall *tc, tcall_listener *listener)
{
    tcall_listener **at = &tc->listeners;
    while (*at && *at != listener)
        at = &(*at)->next;
    if (*at)
        *at = listener->next;
}
