#pragma once
#include "tools.h"
#include "memory.c"
#include "text.c"
#include "compile.c"

/* ==========================================================================
 * >>tools
 */

/* ---- looking up ---- */

/* Returns TCALL_OK, or why nothing can be called: tcall_init failed or was
 * never called. */
TCALL_SHARED_ int tcall_usable_(const tcall *tc)
{
    if (tc->error > 0)
        return TCALL_OK;
    return tc->error < 0 ? tc->error : TCALL_E_USAGE;
}

/* Is a function at work that may call the program's? Memory that was not set up
 * yet does not point to itself. */
TCALL_NOINLINE_ TCALL_SHARED_ bool tcall_is_busy_(tcall *tc)
{
    return tc->busy == tc;
}

/* Returns what the tool needs: everything when it declares nothing. */
TCALL_SHARED_ unsigned tcall_needs_(const tcall_tool *tool)
{
    return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;
}

bool tcall_enabled(const tcall_tool *tool, unsigned allow)
{
    return (tcall_needs_(tool) & ~(allow & TCALL_EVERYTHING)) == 0;
}

/* Returns what the tool may do: what it needs, and of the rest what is allowed.
 */
TCALL_SHARED_ unsigned tcall_may_(const tcall *tc, const tcall_tool *tool)
{
    return tcall_needs_(tool) | (tool->optional_permissions & tc->desc.allow);
}

/* ---- the offer ---- */

/* Returns what the user of the registry lacks for this tool, or NULL. */
TCALL_SHARED_ const char *tcall_withheld_(const tcall *tc,
                                          const tcall_tool *tool)
{
    const tcall_desc *desc = &tc->desc;
    if (!tcall_enabled(tool, desc->allow))
        return "permissions";
    if (tool->roles && !(tool->roles & desc->roles))
        return "roles";
    if (tool->groups && desc->groups && !(tool->groups & desc->groups))
        return "groups";
    return NULL;
}

/* Sets or clears one of many bits; TCALL_BIT_OF_ reads it. */
TCALL_SHARED_ void tcall_set_bit_(uint8_t *bits, size_t index, bool value)
{
    uint8_t bit = (uint8_t)(1 << index % 8);
    bits[index / 8] = (uint8_t)((bits[index / 8] & ~bit) | (value ? bit : 0));
}

/* Is there this tool? The model has what the turn offers, a program all that
 * the registry gives to its user. */
TCALL_SHARED_ bool tcall_is_offered_(const tcall *tc, const tcall_tool *tool,
                                     bool by_model)
{
    if (by_model && tc->offer)
        return TCALL_BIT_OF_(tc->offer, tool - tc->desc.tools) != 0;
    return !tcall_withheld_(tc, tool);
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

/* Returns the tool with this name, other than one that has it; or NULL. */
static const tcall_tool *tcall_namesake_(const tcall *tc, tcall_str name,
                                         const tcall_tool *has_it)
{
    const tcall_tool *tool = tc->desc.tools;
    size_t left = name.len ? tc->desc.tool_count : 0;
    for (; left; left--, tool++)
        if (tool != has_it && tcall_str_eq(tcall_str_of(tool->name), name))
            return tool;
    return NULL;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    return tcall_namesake_(tc, name, NULL);
}

/* Returns whether something says what the arguments must be. */
TCALL_SHARED_ bool tcall_is_checked_(const tcall_tool *tool)
{
    return tool->parameters.text || tool->parameters.made;
}

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
TCALL_SHARED_ int tcall_worse_(int first, int second)
{
    return first == TCALL_OK || second == TCALL_E_MEMORY ? second : first;
}

/* ---- faults of a table ---- */

/* X(NAME, sentence): what can be wrong with a row or with the registry, in the
 * order in which it is reported, and what to do. */
#define TCALL_FAULTS_(X)                                                          \
    X(TOOL_NAME, "the name must begin with a letter or _ and have 1 to 64 of "    \
                 "A-Z a-z 0-9 _ -")                                               \
    X(TAKEN, "the name is taken by Windows or JavaScript: choose another")        \
    X(TWICE, "another tool has this name")                                        \
    X(RUN, "run is missing: name the function that does the work")                \
    X(PERMISSIONS,                                                                \
      "permissions has a bit that is none of TCALL_READ ... TCALL_ACTUATE")       \
    X(SAFE, "safe is none of tcall_safety")                                       \
    X(TOOLS, "tool_count needs tools: the table")                                 \
    X(MANY, "there are more than 65535 tools")                                    \
    X(ROWS, "rows and row_count belong together: give both")                      \
    X(ROOM, "rows has less room than tools needs")                                \
    X(HOOKS, "hooks and hook_count belong together: give both")                   \
    X(TOOL_STAGES, "hooks need tcall_desc.stages: set it to &tcall_stages")       \
    X(NO_SCHEMA, "parameters is missing: give a JSON Schema, or a shape, or "     \
                 "set allow_no_schema")                                           \
    X(STRUCT, "only parameters may be a TCALL_STRUCT: give a JSON Schema")        \
    X(READER, "a schema has no reader: write TCALL_JSON({...}), "                 \
              "TCALL_SCHEMA_TEXT(text), tcall_schema_text_of(text) or "           \
              "TCALL_STRUCT(name)")                                               \
    X(STRICT, "strict needs parameters to hold the model to")                     \
    X(MODE, "no_schema_mode is none of tcall_no_schema")                          \
    X(SERVICES, "services and service_count belong together: give both")          \
    X(NAMELESS, "services has one without a name: nobody could find it")          \
    X(CHECK,                                                                      \
      "validator needs check: write TCALL_VALIDATOR(name, version, check, user)") \
    X(STAGES, "hooks need stages: set it to &tcall_stages")                       \
    X(EVENTS, "on_event needs events: set it to &tcall_events")                   \
    X(HOOK_RUN, "run is missing: name the function to call")                      \
    X(HOOK_STAGE, "its stage is none of TCALL_STAGES")

enum {
#define TCALL_X_(NAME, sentence) TCALL_FAULT_##NAME##_,
    TCALL_FAULTS_(TCALL_X_)
#undef TCALL_X_
        TCALL_FAULT_COUNT_
};

/* Faults are a set of bits: this one is in it where it is true. */
#define TCALL_FAULT_(NAME, wrong) ((uint32_t)(wrong) << TCALL_FAULT_##NAME##_)

/* Refuses a table that has faults. Who names a report hears of each. */
TCALL_SHARED_ int tcall_refuse_(tcall *tc, const char *name, uint32_t faults)
{
    if (!faults)
        return TCALL_OK;
    if (tc->desc.report)
        tc->desc.report->tell(tc, name, faults);
    return TCALL_E_TOOL;
}

/* A schema that nothing reads cannot be checked. */
static bool tcall_is_unread_(tcall_schema_text source)
{
    return (source.text || source.made) && !source.reader;
}

/* Returns whether another tool has the name of a row. */
static bool tcall_is_second_(const tcall *tc, const tcall_tool *tool)
{
    return !tc->distinct && tool->name &&
           tcall_namesake_(tc, tcall_str_of(tool->name), tool);
}

/* Returns those faults of a row that are refused also without a report, because
 * something unchecked could run, a hook would not keep a tool from running, or
 * the program would crash. All others are for the developer alone. */
static uint32_t tcall_row_harms_(const tcall *tc, const tcall_tool *tool)
{
    return TCALL_FAULT_(TOOL_NAME, !tool->name || !*tool->name) |
           TCALL_FAULT_(TWICE, tcall_is_second_(tc, tool)) |
           TCALL_FAULT_(RUN, !tool->run) |
           TCALL_FAULT_(HOOKS, tool->hook_count && !tool->hooks) |
           TCALL_FAULT_(TOOL_STAGES, tool->hook_count && !tc->desc.stages) |
           TCALL_FAULT_(NO_SCHEMA,
                        !tcall_is_checked_(tool) && !tool->allow_no_schema) |
           TCALL_FAULT_(STRUCT, (tool->output.made && !tool->output.text) ||
                                    (tool->provider_schema.made &&
                                     !tool->provider_schema.text)) |
           TCALL_FAULT_(READER, tcall_is_unread_(tool->parameters) ||
                                    tcall_is_unread_(tool->output) ||
                                    tcall_is_unread_(tool->provider_schema));
}

/* The same of the registry. */
static uint32_t tcall_desc_harms_(const tcall_desc *desc)
{
    return TCALL_FAULT_(TOOLS, desc->tool_count && !desc->tools) |
           TCALL_FAULT_(MANY, desc->tool_count > UINT16_MAX ||
                                  desc->row_count > UINT16_MAX) |
           TCALL_FAULT_(ROOM,
                        desc->rows && desc->row_count < desc->tool_count) |
           TCALL_FAULT_(HOOKS, desc->hook_count && !desc->hooks) |
           TCALL_FAULT_(SERVICES, desc->service_count && !desc->services) |
           TCALL_FAULT_(CHECK, desc->validator && !(desc->validator->check &&
                                                    desc->validator->judge)) |
           TCALL_FAULT_(STAGES, desc->hook_count && !desc->stages) |
           TCALL_FAULT_(EVENTS, desc->on_event && !desc->events);
}

/* Checks a row, or NULL: the registry, with its hooks. */
static int tcall_check_(tcall *tc, const tcall_tool *tool)
{
    uint32_t harms =
        tool ? tcall_row_harms_(tc, tool) : tcall_desc_harms_(&tc->desc);
    int r = harms ? TCALL_E_TOOL : TCALL_OK;
    if (tc->desc.report)
        r = tc->desc.report->check(tc, tool, harms);
    if (!harms && tc->desc.stages)
        r = tcall_worse_(r, tc->desc.stages->add(tc, tool));
    return r;
}

/* ---- schemas of a row ---- */

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

/* Compiles one schema of a row, so that a wrong one shows at the start. */
static int tcall_row_schema_(tcall *tc, const tcall_tool *tool,
                             const tcall_schema_text *source,
                             tcall_schema *schema)
{
    int r = TCALL_OK;
    memset(schema, 0, sizeof *schema);
    if (source->text && source->reader)
        r = source->reader->judge(tc, tool, source, schema);
    if (r == TCALL_E_SCHEMA)
        return TCALL_E_TOOL;
    /* after what is missing already it would have come */
    if (!tcall_block_room_(&tc->block, tc->missing + schema->need))
        return TCALL_E_MEMORY;
    return r;
}

/* Compiles all schemas of a row; only the one that checks calls is held in the
 * block, with the registry's. */
static int tcall_row_schemas_(tcall *tc, const tcall_tool *tool, bool hold)
{
    tcall_schema schema;
    int r = tcall_row_schema_(tc, tool, &tool->parameters, &schema);
    if (hold && tcall_lasts_(tc, r < 0 ? schema.need : schema.used) &&
        tc->nodes)
        tc->nodes[tool - tc->desc.tools] = schema.root;
    r = tcall_worse_(r, tcall_row_schema_(tc, tool, &tool->output, &schema));
    return tcall_worse_(
        r, tcall_row_schema_(tc, tool, &tool->provider_schema, &schema));
}

/* Are schemas compiled once, at the start? Otherwise that is done when a call
 * comes, or somebody else checks. */
static bool tcall_holds_schemas_(const tcall *tc)
{
    return !tc->desc.lazy_schemas && !tc->desc.validator;
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
    if (rows && tcall_holds_schemas_(tc))
        tc->nodes =
            (const tcall_node **)tcall_table_(tc, rows, sizeof *tc->nodes);
    return tc->missing ? TCALL_E_MEMORY : TCALL_OK;
}

/* Checks a row of the table, reports all that is wrong with it, and makes it
 * ready to be called. */
static int tcall_row_add_(tcall *tc, size_t row, bool hold)
{
    const tcall_tool *tool = &tc->desc.tools[row];
    int r = tcall_check_(tc, tool);
    return tcall_worse_(r, tcall_row_schemas_(tc, tool, hold));
}

/* Whether no two rows have one name, as a table in the free part of the block
 * shows, where there is room for it: then each name need not be looked for. */
static bool tcall_names_differ_(const tcall *tc)
{
    uint16_t *slots = (uint16_t *)(void *)tcall_block_gap_(&tc->block);
    const tcall_tool *tools = tc->desc.tools;
    size_t i, at, count = 2 * tc->desc.tool_count + 1;
    if (!slots || tcall_block_free_(&tc->block) / sizeof *slots < count)
        return false;
    memset(slots, 0, count * sizeof *slots);
    for (i = 0; i < tc->desc.tool_count; i++) {
        tcall_str name = tcall_str_of(tools[i].name);
        for (at = tcall_hash_(name) % count; slots[at]; at = (at + 1) % count)
            if (tcall_str_eq(tcall_str_of(tools[slots[at] - 1].name), name))
                return false;
        slots[at] = (uint16_t)(i + 1);
    }
    return true;
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
    r = tcall_check_(tc, NULL);
    if (r == TCALL_OK)
        r = tcall_tables_(tc);
    tc->distinct = r == TCALL_OK && tcall_names_differ_(tc);
    for (i = 0; tc->desc.tools && i < desc->tool_count; i++) {
        tc->desc.tool_count = i + 1; /* a later namesake is told of itself */
        r = tcall_worse_(r, tcall_row_add_(tc, i, tcall_holds_schemas_(tc)));
    }
    tc->distinct = false; /* of rows that are added nobody knows */
    tc->error = r < 0 ? r : 1;
    tc->busy = NULL;
    if (r < 0) { /* nothing can be found, and so nothing can be called */
        tc->desc.tool_count = 0;
        tc->desc.stages = NULL;
    }
    return r;
}

/* What a call takes besides its texts; tcall_pick takes as much, and some more
 * for each tool. */
enum { TCALL_CALL_ROOM_ = 2112, TCALL_PICK_ROOM_ = 24 };

/* Returns how much of the block calls with so many bytes of text may take. */
TCALL_SHARED_ size_t tcall_call_room_(const tcall_desc *desc, size_t bytes)
{
    size_t room = TCALL_CALL_ROOM_ + 2 * bytes, i;
    room += TCALL_PICK_ROOM_ * desc->tool_count;
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

/* Makes a row free. The rest of it stays for calls that are under way. */
static void tcall_row_clear_(tcall *tc, size_t row)
{
    tcall_tool *tool = &tc->desc.rows[row];
    tool->name = "";
    tool->permissions = TCALL_GONE_;
    tool->pinned = false;
    if (tc->nodes)
        tc->nodes[row] = NULL;
    if (tc->offer)
        tcall_set_bit_(tc->offer, row, false);
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
        tcall_row_clear_(tc, row);
        return r;
    }
    if (row == tc->desc.tool_count)
        tc->desc.tool_count++;
    return (int)row;
}

int tcall_remove(tcall *tc, tcall_str name)
{
    const tcall_tool *tool = tcall_find(tc, name);
    if (!tool || !tc->desc.rows)
        return TCALL_E_UNKNOWN;
    tcall_row_clear_(tc, (size_t)(tool - tc->desc.rows));
    return TCALL_OK;
}

/* ---- time and events ---- */

/* Returns milliseconds, or 0 without a clock. */
TCALL_SHARED_ uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

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

/* ---- the report ----
 *
 * What a developer is told of const tables. A program that does not name it
 * carries none of the sentences and of what finds the faults.
 */

/* The rule for names: letters, digits, _ - and what `more` adds, at most max,
 * and perhaps a letter or _ first. */
TCALL_SHARED_ bool tcall_name_fits_(const char *name, const char *more,
                                    size_t max, bool letter_first)
{
    size_t i;
    for (i = 0; name[i] && i <= max; i++) {
        char lower = (char)(name[i] | 0x20);
        bool letter = (lower >= 'a' && lower <= 'z') || name[i] == '_';
        bool other = tcall_is_digit_(name[i]) || name[i] == '-' ||
                     strchr(more, name[i]) != NULL;
        if (!letter && (!other || (i == 0 && letter_first)))
            return false;
    }
    return i > 0 && i <= max;
}

/* Is it a name that some system or language has taken, in any case of letters:
 * a device of Windows, such as COM1, or a member of each object of JavaScript?
 * Logs and files are named after tools. */
static bool tcall_is_reserved_(const char *name)
{
    static const char words[] = "con\0prn\0aux\0nul\0com#\0lpt#\0"
                                "__proto__\0constructor\0prototype\0";
    const char *word;
    size_t at;
    for (word = words; *word; word = tcall_nth_(word, 1)) {
        for (at = 0; word[at]; at++)
            if (word[at] == '#' ? name[at] < '1' || name[at] > '9'
                                : tcall_to_lower_(name[at]) != word[at])
                break;
        if (!word[at] && !name[at])
            return true;
    }
    return false;
}

/* Returns further faults of a row: its schemas and hooks are checked apart. */
static uint32_t tcall_row_slips_(const tcall_tool *tool)
{
    const char *name = tool->name ? tool->name : "";
    return TCALL_FAULT_(TOOL_NAME, !tcall_name_fits_(name, "", 64, true)) |
           TCALL_FAULT_(TAKEN, tcall_is_reserved_(name)) |
           TCALL_FAULT_(PERMISSIONS,
                        (tool->permissions | tool->optional_permissions) >
                            TCALL_EVERYTHING) |
           TCALL_FAULT_(SAFE, tool->safe > TCALL_SAFETY_UNSAFE) |
           TCALL_FAULT_(HOOKS, tool->hooks && !tool->hook_count) |
           TCALL_FAULT_(STRICT, tool->strict && !tcall_is_checked_(tool)) |
           TCALL_FAULT_(MODE, tool->no_schema_mode > TCALL_NO_SCHEMA_FULL);
}

static bool tcall_has_nameless_(const tcall_service *services, size_t count)
{
    for (; services && count; services++, count--)
        if (!services->name)
            return true;
    return false;
}

/* The same of the registry. */
static uint32_t tcall_desc_slips_(const tcall_desc *desc)
{
    return TCALL_FAULT_(ROWS, !desc->rows != !desc->row_count) |
           TCALL_FAULT_(HOOKS, desc->hooks && !desc->hook_count) |
           TCALL_FAULT_(SERVICES, desc->services && !desc->service_count) |
           TCALL_FAULT_(NAMELESS, tcall_has_nameless_(desc->services,
                                                      desc->service_count));
}

/* Begins a line of the report; returns where to write on, or NULL. */
static tcall_writer *tcall_report_(tcall *tc, const char *name)
{
    tcall_writer *out = tc->desc.report ? tc->desc.faults : NULL;
    if (out) {
        tcall_write_text(out, name ? name : "(no name)");
        tcall_write_text(out, ": ");
    }
    return out;
}

/* Writes a line of the report. */
static void tcall_report_line_(tcall *tc, const char *name, const char *text,
                               const char *more)
{
    tcall_writer *out = tcall_report_(tc, name);
    if (!out)
        return;
    tcall_write_text(out, text);
    tcall_write_text(out, more);
    tcall_write_text(out, "\n");
}

/* Writes a line for each fault, and notes the first sentence of all. */
static void tcall_report_tell_(tcall *tc, const char *name, uint32_t faults)
{
    static const char sentences[] =
#define TCALL_X_(NAME, sentence) sentence "\0"
        TCALL_FAULTS_(TCALL_X_);
#undef TCALL_X_
    const char *sentence;
    for (sentence = sentences; faults; faults >>= 1) {
        if (faults & 1) {
            tc->problem = tc->problem ? tc->problem : sentence;
            tcall_report_line_(tc, name, sentence, "");
        }
        sentence = tcall_nth_(sentence, 1);
    }
}

/* Returns whether there is a hook that may give approval. */
static bool tcall_has_consent_(const tcall_hook *hooks, size_t count)
{
    for (; count; hooks++, count--)
        if (hooks->stage == TCALL_WILL_CHECK_CONSENT)
            return true;
    return false;
}

/* Reports what is allowed, but hardly meant: a tool that nobody can call. */
static void tcall_report_notes_(tcall *tc, const tcall_tool *tool)
{
    const tcall_desc *desc = &tc->desc;
    const char *withheld = tcall_withheld_(tc, tool);
    if (withheld)
        tcall_report_line_(tc, tool->name,
                           "note: nobody can call it: tcall_desc lacks its ",
                           withheld);
    if (tool->confirm && !desc->approve &&
        !tcall_has_consent_(desc->hooks, desc->hook_count) &&
        !tcall_has_consent_(tool->hooks, tool->hook_count))
        tcall_report_line_(tc, tool->name,
                           "note: confirm needs tcall_desc.approve: each call "
                           "is denied",
                           "");
}

/* Reports on a row, or NULL: on the registry. */
static int tcall_report_check_(tcall *tc, const tcall_tool *tool,
                               uint32_t harms)
{
    uint32_t slips =
        tool ? tcall_row_slips_(tool) : tcall_desc_slips_(&tc->desc);
    int r = tcall_refuse_(tc, tool ? tool->name : "tcall_desc", harms | slips);
    if (tool && r == TCALL_OK)
        tcall_report_notes_(tc, tool);
    return r;
}

/* X(NAME, sentence): what can be wrong with a tcall_agent_desc, the first to be
 * looked at first, and what to do. */
#define TCALL_AGENT_FAULTS_(X)                                                 \
    X(PROVIDER, "provider is missing: name one, such as &tcall_openai")        \
    X(MODEL, "model is missing: give the name that the provider knows")        \
    X(EMPTY, "provider is empty: name one, such as &tcall_openai")             \
    X(PATH, "path is missing: this provider has none of its own")              \
    X(TRANSPORT, "transport is incomplete: open, write, read and close are "   \
                 "required")                                                   \
    X(PICK, "pick_opts needs a function that picks: set pick to tcall_pick")   \
    X(CLOCK, "max_ms needs a clock: set transport.now_ms")                     \
    X(EXTRA, "extra must be the text of one JSON object")                      \
    X(EXTRA_OWN, "extra holds a member that each request has already")         \
    X(EXTRA_TWICE, "extra holds a member twice: leave one out")                \
    X(EXTRA_NUMBER, "extra holds a number that servers cannot hold")           \
    X(HEADERS, "headers are too many: at most TCALL_AGENT_HEADERS")            \
    X(HEADER_NAME, "a header's name must be letters, digits, '-', '_' or '.'") \
    X(HEADER_VALUE, "a header's value must not hold control characters")       \
    X(HEADER_OWN, "headers hold one that each request has already")            \
    X(HEADER_KEY, "headers hold the one that carries the key: leave one out")  \
    X(TWO, "tc has an agent already: each needs one of its own")               \
    X(BUSY, "tc is at work: call this when it is not")                         \
    X(OTHER, "tc must be that of tcall_agent_init")                            \
    X(IO, "io_size of tcall_agent_init is less than the path")

static const char tcall_agent_lacks_[] =
#ifndef TOOLCALL_NO_AGENT
#define TCALL_X_(NAME, sentence) sentence "\0"
    TCALL_AGENT_FAULTS_(TCALL_X_)
#undef TCALL_X_
#endif
        "";

TCALL_DATA_ const struct tcall_reporter_ tcall_report = {
    tcall_report_tell_, tcall_report_check_, tcall_error_text,
    tcall_agent_lacks_};

/* ---- who reads the schema text of a row ----
 *
 * Text of a schema is compiled, checked by rows, and said in sentences of its
 * own. Rows reach all of that through the reader they name, so that a program
 * whose tools have shapes carries none of it.
 */

/* Reports a fault of one of a tool's schemas, in its own words. */
static void tcall_schema_tell_(tcall *tc, const tcall_tool *tool,
                               const tcall_schema_text *source,
                               const tcall_schema *fault)
{
    tcall_writer *out = tcall_report_(tc, tool->name);
    if (tc->desc.report && !tc->problem)
        tc->problem = fault->reason;
    if (!out)
        return;
    tcall_write_text(out, source == &tool->parameters ? "parameters: "
                          : source == &tool->output   ? "output: "
                                                      : "provider_schema: ");
    tcall_write_schema_error(out, fault);
    tcall_write_text(out, "\n");
}

/* So many faults of a schema are reported at most: the next one may be known
 * only when these are mended. */
enum { TCALL_SCHEMA_FAULTS_ = 16 };

/* A schema of a row must compile, into the free part of the block, at whose
 * beginning its nodes are not held yet; parameters must take an object. A
 * validator of the user's decides itself what it can check: without memory only
 * wrong JSON is found. */
TCALL_SHARED_ int tcall_schema_judge_(tcall *tc, const tcall_tool *tool,
                                      const tcall_schema_text *source,
                                      tcall_schema *schema)
{
    const tcall_desc *desc = &tc->desc;
    tcall_block *block = &tc->block;
    bool foreign = desc->validator && !source->made;
    tcall_author_ author = {tcall_str_of(source->text),
                            source->made,
                            tcall_block_gap_(block),
                            foreign ? 0 : tcall_block_free_(block),
                            desc->patterns,
                            TCALL_DRAFT_2020,
                            false,
                            0};
    int r, left = TCALL_SCHEMA_FAULTS_;
    do { /* once more for each further fault */
        r = source->reader->compile(schema, &author);
        if (schema->reason)
            tcall_schema_tell_(tc, tool, source, schema);
        author.after = schema->at + 1;
    } while (schema->reason && desc->report && --left);
    if (foreign) {
        schema->need = 0;
        return r == TCALL_E_SCHEMA ? r : TCALL_OK;
    }
    if (r < 0 || source != &tool->parameters ||
        tcall_takes_objects_(schema->root, TCALL_ROOT_DEPTH_))
        return r < 0 ? r : TCALL_OK;
    schema->reason = "parameters must take an object:";
    schema->remedy = "arguments are one";
    schema->at = (size_t)(tcall_text_space_(source->text) - source->text);
    tcall_schema_tell_(tc, tool, source, schema);
    return TCALL_E_SCHEMA;
}

/* Nodes that were made before stay where they are. */
TCALL_SHARED_ int tcall_nodes_take_(tcall_schema *out,
                                    const tcall_author_ *author)
{
    *out = *(const tcall_schema *)author->made;
    return TCALL_OK;
}
