#pragma once
#include "lint.h"
#include "strict.c"

/* ==========================================================================
 * >>lint
 *
 * Each tool goes through the same few questions; a finding is put together in
 * two small buffers and reported at once.
 */

#ifndef TOOLCALL_NO_LINT

typedef struct tcall_lint_ {
    void (*found)(void *user, const tcall_finding *finding);
    void *user;
    const tcall_tool *tool;
    int count;         /* findings that are no notes */
    tcall_writer path; /* writes the pointer */
    char pointer[190];
} tcall_lint_;

/* Bytes of a finding's text. */
#define TCALL_LINT_TEXT_ 160

/* Reports a finding at the pointer. A note does not count. */
static void tcall_lint_report_(tcall_lint_ *lint, const char *code,
                               const char *provider, bool note, tcall_str text)
{
    tcall_finding finding;
    finding.code = code;
    finding.provider = provider;
    finding.tool = lint->tool;
    finding.pointer = tcall_slice_(lint->pointer, lint->path.fill);
    finding.text = text;
    finding.note = note;
    lint->count += !note;
    lint->found(lint->user, &finding);
}

static void tcall_lint_say_(tcall_lint_ *lint, const char *code,
                            const char *text)
{
    tcall_lint_report_(lint, code, NULL, false, tcall_str_of(text));
}

/* Points at one member of the tool. */
static void tcall_lint_at_(tcall_lint_ *lint, const char *member)
{
    tcall_writer_init(&lint->path, lint->pointer, sizeof lint->pointer);
    tcall_write_text(&lint->path, member);
}

/* ---- names ---- */

/* What names may hold beside A-Z a-z 0-9 _ and -, and how long they may be. */
typedef struct tcall_lint_rule_ {
    const char *provider;
    const char *more;
    uint8_t max;
    bool letter; /* begins with a letter or _ */
} tcall_lint_rule_;

static const tcall_lint_rule_ tcall_lint_rules_[] = {
    {"openai", "", 64, false},     {"responses", "", 128, false},
    {"anthropic", "", 128, false}, {"gemini", ".:", 128, true},
    {"mcp", "./", 64, false},
};

/* Says what the rule allows: the developer need not look it up. */
static void tcall_lint_rule_report_(tcall_lint_ *lint,
                                    const tcall_lint_rule_ *rule)
{
    char text[TCALL_LINT_TEXT_];
    tcall_writer out;
    tcall_writer_init(&out, text, sizeof text);
    tcall_write_text(&out, "must be 1 to ");
    tcall_write_int(&out, rule->max);
    tcall_write_text(&out, " of A-Z a-z 0-9 _ -");
    tcall_write_text(&out, *rule->more ? " " : "");
    tcall_write_text(&out, rule->more);
    tcall_write_text(&out, rule->letter ? " and begin with a letter or _" : "");
    tcall_lint_report_(lint, "name", rule->provider, false,
                       tcall_slice_(text, out.fill));
}

/* A tool may be sent to any provider, so the name has to fit all of them. */
static void tcall_lint_name_(tcall_lint_ *lint, const tcall_tool *first)
{
    const char *name = lint->tool->name ? lint->tool->name : "";
    size_t i;
    tcall_lint_at_(lint, "/name");
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_lint_rules_); i++) {
        const tcall_lint_rule_ *rule = &tcall_lint_rules_[i];
        if (!tcall_name_fits_(name, rule->more, rule->max, rule->letter))
            tcall_lint_rule_report_(lint, rule);
    }
    for (; first < lint->tool; first++)
        if (strcmp(first->name ? first->name : "", name) == 0) {
            tcall_lint_say_(lint, "name", "another tool has this name");
            return;
        }
}

/* ---- parameters ---- */

/* Appends a key of JSON text, quotes included, to the pointer. */
static void tcall_lint_key_(tcall_lint_ *lint, const char *key)
{
    tcall_str name = tcall_text_inner_(key);
    size_t i;
    for (i = 0; i < name.len; i++) {
        const char *escape = tcall_pointer_escape_(name.ptr[i]);
        if (escape)
            tcall_write_text(&lint->path, escape);
        else
            tcall_write_bytes(&lint->path, name.ptr + i, 1);
    }
}

/* Cuts the pointer after so many bytes. */
static void tcall_lint_back_(tcall_lint_ *lint, size_t len)
{
    tcall_writer *path = &lint->path;
    path->len = len;
    path->fill = len < path->cap ? len : path->cap;
    path->error = len > path->cap ? TCALL_E_MEMORY : TCALL_OK;
}

enum { TCALL_LINT_LEVELS_ = 8 };

/* The properties that are visited, and those around them. */
typedef struct tcall_lint_level_ {
    const char *next; /* the next key, or a closing bracket */
    size_t path_len;  /* bytes of the pointer to them */
} tcall_lint_level_;

/* Enters the properties of a schema; false if it has none. */
static bool tcall_lint_enter_(tcall_lint_ *lint, tcall_lint_level_ *level,
                              const char *schema)
{
    const char *properties = tcall_text_get_(schema, "properties");
    if (!properties || *properties != '{')
        return false;
    level->next = tcall_text_next_(properties + 1);
    level->path_len = lint->path.len;
    return true;
}

/* Looks at a parameter. Returns its schema, of an array that of its items. */
static const char *tcall_lint_parameter_(tcall_lint_ *lint, const char *key)
{
    const char *schema = tcall_text_value_(key), *items;
    const char *description = tcall_text_get_(schema, "description");
    tcall_write_text(&lint->path, "/properties/");
    tcall_lint_key_(lint, key);
    if (!description || tcall_text_is_(description, ""))
        tcall_lint_say_(lint, "parameter",
                        "has no description: say what it is, its unit and "
                        "its range");
    /* The elements of an array have no names, and no descriptions either. */
    while ((items = tcall_text_get_(schema, "items")) != NULL) {
        tcall_write_text(&lint->path, "/items");
        schema = items;
    }
    return schema;
}

/* Visits all parameters, those of parameters included. Returns how many there
 * are on the first level, and whether there are further ones. */
static int tcall_lint_parameters_(tcall_lint_ *lint, const char *schema,
                                  bool *nested)
{
    tcall_lint_level_ open[TCALL_LINT_LEVELS_];
    int depth = 0, count = 0;
    tcall_lint_at_(lint, "/parameters");
    if (!tcall_lint_enter_(lint, &open[0], schema))
        return 0;
    while (depth >= 0) {
        const char *key = open[depth].next, *inner;
        if (tcall_text_closes_(key)) {
            depth--;
            continue;
        }
        open[depth].next =
            tcall_text_next_(tcall_text_skip_(tcall_text_value_(key)));
        count += depth == 0;
        tcall_lint_back_(lint, open[depth].path_len);
        inner = tcall_lint_parameter_(lint, key);
        if (depth + 1 < TCALL_LINT_LEVELS_ &&
            tcall_lint_enter_(lint, &open[depth + 1], inner)) {
            *nested = true;
            depth++;
        }
    }
    return count;
}

/* ---- the rest ---- */

/* Too short and the model does not know when to use it; too long and every
 * request pays for it. */
static void tcall_lint_description_(tcall_lint_ *lint, int parameters,
                                    bool nested)
{
    char text[TCALL_LINT_TEXT_];
    long tokens = (long)(tcall_str_of(lint->tool->description).len + 3) / 4;
    int least = nested || parameters > 4 ? 25 : 10;
    int most = nested || parameters > 1 ? 40 : 20;
    tcall_writer out;
    tcall_lint_at_(lint, "/description");
    if (tokens >= least && tokens <= most)
        return;
    tcall_writer_init(&out, text, sizeof text);
    tcall_write_text(&out, "has about ");
    tcall_write_int(&out, tokens);
    tcall_write_text(&out, " tokens, should have ");
    tcall_write_int(&out, least);
    tcall_write_text(&out, " to ");
    tcall_write_int(&out, most);
    tcall_write_text(&out, ": what it does and when to use it");
    tcall_lint_report_(lint, "description", NULL, false,
                       tcall_slice_(text, out.fill));
}

/* budget: what the tools before leave of a provider's strict mode. A tool that
 * does not ask for it takes nothing away. */
static void tcall_lint_strict_(tcall_lint_ *lint, const char *provider,
                               tcall_strict_budget_ *budget)
{
    tcall_tool tool = *lint->tool;
    tcall_strict_budget_ after = *budget;
    if (budget->mode == TCALL_STRICT_NONE) /* TOOLCALL_NO_STRICT */
        return;
    tool.strict = true;
    if (!tcall_strict_spend_(&tool, &after))
        tcall_lint_report_(lint, "strict", provider, !lint->tool->strict,
                           tcall_str_of("is sent without strict mode, which "
                                        "cannot say it or has reached a "
                                        "limit"));
    else if (lint->tool->strict)
        *budget = after;
}

/* Reports a schema that cannot be compiled. Returns whether it is JSON, so that
 * the rest can be looked at. */
static bool tcall_lint_schema_(tcall_lint_ *lint, const char *schema)
{
    char text[TCALL_LINT_TEXT_];
    tcall_schema compiled;
    tcall_writer out;
    tcall_lint_at_(lint, "/parameters");
    if (!schema) {
        if (!lint->tool->allow_no_schema)
            tcall_lint_say_(lint, "schema",
                            "is missing: nothing would be checked");
        return false;
    }
    if (tcall_schema_compile(&compiled, tcall_str_of(schema), NULL, 0,
                             TCALL_DRAFT_2020) != TCALL_E_SCHEMA)
        return true;
    tcall_writer_init(&out, text, sizeof text);
    tcall_write_schema_error(&out, &compiled);
    tcall_lint_report_(lint, "schema", NULL, false,
                       tcall_slice_(text, out.fill));
    return tcall_scan_whole_(tcall_str_of(schema)) == TCALL_OK;
}

int tcall_lint(const tcall_tool *tools, size_t tool_count,
               void (*found)(void *user, const tcall_finding *finding),
               void *user)
{
    tcall_strict_budget_ openai = tcall_strict_budget_of_(TCALL_STRICT_OPENAI);
    tcall_strict_budget_ anthropic =
        tcall_strict_budget_of_(TCALL_STRICT_ANTHROPIC);
    tcall_lint_ lint;
    size_t i;
    memset(&lint, 0, sizeof lint);
    lint.found = found;
    lint.user = user;
    for (i = 0; i < tool_count; i++) {
        const char *schema = tools[i].parameters;
        bool nested = false;
        int parameters = 0;
        lint.tool = &tools[i];
        tcall_lint_name_(&lint, tools);
        if (tcall_lint_schema_(&lint, schema)) {
            parameters = tcall_lint_parameters_(
                &lint, tcall_text_space_(schema), &nested);
            tcall_lint_at_(&lint, "/parameters");
            tcall_lint_strict_(&lint, "openai", &openai);
            tcall_lint_strict_(&lint, "anthropic", &anthropic);
        }
        tcall_lint_description_(&lint, parameters, nested);
    }
    return lint.count;
}

#endif /* TOOLCALL_NO_LINT */
