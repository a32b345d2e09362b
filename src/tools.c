#pragma once
#include "tools.h"
#include "json.c"
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
    if (tc->ready)
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

TCALL_SHARED_ bool tcall_offers_(const uint8_t *bits, size_t index)
{
    return bits[index / 8] >> index % 8 & 1;
}

TCALL_SHARED_ void tcall_set_offer_(uint8_t *bits, size_t index, bool value)
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
        return tcall_offers_(tc->offer, (size_t)(tool - tc->desc.tools));
    return !tcall_withheld_(tc, tool);
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

/* Returns < 0, 0 or > 0 as text comes before, is or comes after name. */
static int tcall_name_compare_(const char *text, tcall_str name)
{
    size_t i;
    for (i = 0; i < name.len; i++)
        if (text[i] != name.ptr[i] || !text[i])
            return (unsigned char)text[i] - (unsigned char)name.ptr[i];
    return (unsigned char)text[i];
}

/* Returns the place of a name in tc->names, or where it belongs. */
static size_t tcall_name_place_(const tcall *tc, tcall_str name, bool *found)
{
    size_t first = 0, end = tc->name_count;
    *found = false;
    while (first < end && !*found) {
        size_t middle = first + (end - first) / 2;
        const char *other = tc->desc.tools[tc->names[middle]].name;
        int order = tcall_name_compare_(other, name);
        *found = order == 0;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return end;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    bool found;
    size_t place = tcall_name_place_(tc, name, &found);
    return found ? &tc->desc.tools[tc->names[place]] : NULL;
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

/* Lists a row under its name, unless there is none or an earlier row has it:
 * both are faults that were reported. */
TCALL_SHARED_ void tcall_name_insert_(tcall *tc, size_t row)
{
    bool found;
    tcall_str name = tcall_str_of(tc->desc.tools[row].name);
    size_t place = tcall_name_place_(tc, name, &found);
    uint16_t *at;
    if (!tc->names || found || !name.len)
        return;
    at = tc->names + place;
    memmove(at + 1, at, (tc->name_count - place) * sizeof *at);
    *at = (uint16_t)row;
    tc->name_count++;
}

/* Takes a name that is listed off the list. */
TCALL_SHARED_ void tcall_name_remove_(tcall *tc, tcall_str name)
{
    bool found;
    size_t place = tcall_name_place_(tc, name, &found);
    uint16_t *at = tc->names + place;
    tc->name_count--;
    memmove(at, at + 1, (tc->name_count - place) * sizeof *at);
}

/* ---- what can be wrong with a table ---- */

/* A row or table that is judged, and what came of it so far. */
typedef struct tcall_review_ {
    tcall *tc;
    const char *name;
    int error; /* TCALL_OK or TCALL_E_TOOL */
} tcall_review_;

static tcall_review_ tcall_review_of_(tcall *tc, const char *name)
{
    tcall_review_ review = {tc, name, TCALL_OK};
    return review;
}

/* Begins a line of the report; returns where to write on, or NULL. */
TCALL_SHARED_ tcall_writer *tcall_report_(tcall *tc, const char *name)
{
    tcall_writer *out = tc->desc.report;
    if (out) {
        tcall_write_text(out, name ? name : "(no name)");
        tcall_write_text(out, ": ");
    }
    return out;
}

/* TCALL_REFUSE_(review, wrong, sentence): a condition that must not hold, and
 * what to tell the developer where it does. */
#ifndef TOOLCALL_NO_REPORT

#define TCALL_REFUSE_ tcall_refuse_

static void tcall_refuse_(tcall_review_ *review, bool wrong,
                          const char *sentence)
{
    tcall_writer *out;
    if (!wrong)
        return;
    review->error = TCALL_E_TOOL;
    out = tcall_report_(review->tc, review->name);
    if (out) {
        tcall_write_text(out, sentence);
        tcall_write_text(out, "\n");
    }
}

#else

#define TCALL_REFUSE_(review, wrong, sentence) tcall_refuse_(review, wrong)

static void tcall_refuse_(tcall_review_ *review, bool wrong)
{
    if (wrong)
        review->error = TCALL_E_TOOL;
}

#endif

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
    static const char *const words[] = {
        "con",  "prn",       "aux",         "nul",      "com#",
        "lpt#", "__proto__", "constructor", "prototype"};
    size_t i, at;
    for (i = 0; i < TCALL_ARRAY_LEN(words); i++) {
        const char *word = words[i];
        for (at = 0; word[at]; at++)
            if (word[at] == '#' ? name[at] < '1' || name[at] > '9'
                                : tcall_to_lower_(name[at]) != word[at])
                break;
        if (!word[at] && !name[at])
            return true;
    }
    return false;
}

/* Returns whether something says what the arguments must be. */
TCALL_SHARED_ bool tcall_is_checked_(const tcall_tool *tool)
{
    return tool->parameters.text || tool->shape;
}

/* A text that nothing reads cannot be checked. */
static bool tcall_is_unread_(tcall_schema_text source)
{
    return source.text && !source.reader;
}

/* What is wrong with what a row says of its arguments. */
static void tcall_row_check_arguments_(tcall_review_ *review,
                                       const tcall_tool *tool)
{
    bool checked = tcall_is_checked_(tool);
    TCALL_REFUSE_(review, !checked && !tool->allow_no_schema,
                  "parameters is missing: give a JSON Schema, or a shape, "
                  "or set allow_no_schema");
    TCALL_REFUSE_(review, tool->parameters.text && tool->shape,
                  "parameters and shape say the same twice: leave out "
                  "parameters, which is written from the shape");
    TCALL_REFUSE_(review,
                  tcall_is_unread_(tool->parameters) ||
                      tcall_is_unread_(tool->output) ||
                      tcall_is_unread_(tool->provider_schema),
                  "a schema has text, but no reader: write TCALL_JSON({...}), "
                  "TCALL_SCHEMA_TEXT(text) or tcall_schema_text_of(text)");
    TCALL_REFUSE_(review, tool->strict && !checked,
                  "strict needs parameters, or a shape, to hold the model "
                  "to");
    TCALL_REFUSE_(review, tool->no_schema_mode > TCALL_NO_SCHEMA_FULL,
                  "no_schema_mode is none of tcall_no_schema");
}

/* Everything that is wrong with a row but for its schemas and hooks. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_row_check_(tcall *tc,
                                                   const tcall_tool *tool)
{
    tcall_review_ review = tcall_review_of_(tc, tool->name);
    TCALL_REFUSE_(&review,
                  !tool->name || !tcall_name_fits_(tool->name, "", 64, true),
                  "the name must begin with a letter or _ and have 1 to 64 "
                  "of A-Z a-z 0-9 _ -");
    TCALL_REFUSE_(&review, tool->name && tcall_is_reserved_(tool->name),
                  "the name is taken by Windows or JavaScript: choose another");
    TCALL_REFUSE_(&review, tcall_find(tc, tcall_str_of(tool->name)) != NULL,
                  "another tool has this name");
    TCALL_REFUSE_(&review, !tool->run,
                  "run is missing: name the function that does the work");
    TCALL_REFUSE_(&review,
                  (tool->permissions | tool->optional_permissions) >
                      TCALL_EVERYTHING,
                  "permissions has a bit that is none of TCALL_READ ... "
                  "TCALL_ACTUATE");
    TCALL_REFUSE_(&review, tool->safe > TCALL_SAFETY_UNSAFE,
                  "safe is none of tcall_safety");
    TCALL_REFUSE_(&review, !tool->hooks != !tool->hook_count,
                  "hooks and hook_count belong together: give both");
    TCALL_REFUSE_(&review, tool->hook_count > 0 && !tc->desc.stages,
                  "hooks need tcall_desc.stages: set it to &tcall_stages");
    tcall_row_check_arguments_(&review, tool);
    return review.error;
}

static bool tcall_has_nameless_(const tcall_service *services, size_t count)
{
    for (; services && count; services++, count--)
        if (!services->name)
            return true;
    return false;
}

/* The same for the registry itself. */
TCALL_SHARED_ int tcall_desc_check_(tcall *tc)
{
    const tcall_desc *desc = &tc->desc;
    tcall_review_ review = tcall_review_of_(tc, "tcall_desc");
    TCALL_REFUSE_(&review, desc->tool_count > 0 && !desc->tools,
                  "tool_count needs tools: the table");
    TCALL_REFUSE_(&review,
                  desc->tool_count > UINT16_MAX || desc->row_count > UINT16_MAX,
                  "there are more than 65535 tools");
    TCALL_REFUSE_(&review, !desc->rows != !desc->row_count,
                  "rows and row_count belong together: give both");
    TCALL_REFUSE_(&review, desc->rows && desc->row_count < desc->tool_count,
                  "rows has less room than tools needs");
    TCALL_REFUSE_(&review, !desc->hooks != !desc->hook_count,
                  "hooks and hook_count belong together: give both");
    TCALL_REFUSE_(&review, !desc->services != !desc->service_count,
                  "services and service_count belong together: give both");
    TCALL_REFUSE_(&review,
                  tcall_has_nameless_(desc->services, desc->service_count),
                  "services has one without a name: nobody could find it");
    TCALL_REFUSE_(&review, desc->validator && !desc->validator->check,
                  "validator needs check: the function that checks arguments");
#ifdef TOOLCALL_NO_REPORT
    TCALL_REFUSE_(&review, desc->report != NULL, "");
#endif
    TCALL_REFUSE_(&review, desc->hook_count > 0 && !desc->stages,
                  "hooks need stages: set it to &tcall_stages");
#ifdef TOOLCALL_NO_EVENTS
    TCALL_REFUSE_(&review, desc->on_event != NULL,
                  "on_event was left out by TOOLCALL_NO_EVENTS");
#endif
#ifdef TOOLCALL_NO_REPAIR
    TCALL_REFUSE_(&review, desc->repair != NULL,
                  "repair was left out by TOOLCALL_NO_REPAIR");
#endif
    return review.error;
}

/* ---- what may have been forgotten ---- */

#ifndef TOOLCALL_NO_REPORT

/* Is there a hook that may give approval? */
static bool tcall_has_consent_(const tcall_hook *hooks, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (hooks[i].stage == TCALL_WILL_CHECK_CONSENT)
            return true;
    return false;
}

/* Reports what is allowed, but hardly meant: a tool that nobody can call. */
TCALL_SHARED_ void tcall_row_notes_(tcall *tc, const tcall_tool *tool)
{
    const tcall_desc *desc = &tc->desc;
    const char *withheld = tcall_withheld_(tc, tool);
    tcall_writer *out = desc->report;
    if (out && withheld) {
        tcall_report_(tc, tool->name);
        tcall_write_text(out,
                         "note: nobody can call it: tcall_desc lacks its ");
        tcall_write_text(out, withheld);
        tcall_write_text(out, "\n");
    }
    if (out && tool->confirm && !desc->approve &&
        !tcall_has_consent_(desc->hooks, desc->hook_count) &&
        !tcall_has_consent_(tool->hooks, tool->hook_count)) {
        tcall_report_(tc, tool->name);
        tcall_write_text(out, "note: confirm needs tcall_desc.approve: each "
                              "call is denied\n");
    }
}

#else

TCALL_SHARED_ void tcall_row_notes_(tcall *tc, const tcall_tool *tool)
{
    (void)tc;
    (void)tool;
}

#endif
