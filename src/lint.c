#pragma once
#include "lint.h"
#include "openai.c"
#include "anthropic.c"
#include "gemini.c"
#include "ollama.c"
#include "responses.c"

/* ==========================================================================
 * >>lint
 *
 * Each tool goes through the same few questions; a finding is put together in
 * two small buffers and told at once.
 */
#ifndef TOOLCALL_NO_LINT

typedef struct tcall_lint_ {
    void (*found)(void *user, const tcall_finding *finding);
    void *user;
    const tcall_tool *tool;
    int count;
    tcall_writer at; /* the pointer */
    char pointer[190];
} tcall_lint_;

#define TCALL_LINT_TEXT_ 160

static void tcall_lint_tell_(tcall_lint_ *l, const char *code,
                             const char *provider, bool note, tcall_str text)
{
    tcall_finding f;
    f.code = code;
    f.provider = provider;
    f.tool = l->tool;
    f.pointer = tcall_slice_(l->pointer, l->at.fill);
    f.text = text;
    f.note = note;
    l->count += !note;
    l->found(l->user, &f);
}

static void tcall_lint_say_(tcall_lint_ *l, const char *code,
                            const char *provider, const char *text)
{
    tcall_lint_tell_(l, code, provider, false, tcall_str_of(text));
}

/* The pointer back at one part of the tool. */
static void tcall_lint_at_(tcall_lint_ *l, const char *part)
{
    tcall_writer_init(&l->at, l->pointer, sizeof l->pointer);
    tcall_write_text(&l->at, part);
}

size_t tcall_lint_tokens(size_t bytes)
{
    return (bytes + 3) / 4;
}

/* What names may hold beside A-Z a-z 0-9 _ and -, and how long they may be. */
typedef struct tcall_lint_rule_ {
    char provider[10];
    char more[3];
    uint8_t max;
    bool letter; /* begins with a letter or _ */
} tcall_lint_rule_;

static const tcall_lint_rule_ tcall_lint_rules_[] = {
    {"openai", "", 64, false},     {"responses", "", 128, false},
    {"anthropic", "", 128, false}, {"gemini", ".:", 128, true},
    {"mcp", "./", 64, false},
};

TCALL_APART_ static void tcall_lint_name_(tcall_lint_ *l,
                                          const tcall_tool *first)
{
    char text[TCALL_LINT_TEXT_];
    const char *name = l->tool->name ? l->tool->name : "";
    size_t i;
    tcall_lint_at_(l, "/name");
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_lint_rules_); i++) {
        const tcall_lint_rule_ *rule = &tcall_lint_rules_[i];
        tcall_writer w;
        if (tcall_name_fits_(name, rule->more, rule->max, rule->letter))
            continue;
        tcall_writer_init(&w, text, sizeof text);
        tcall_write_text(&w, "must be 1 to ");
        tcall_write_int(&w, rule->max);
        tcall_write_text(&w, " of A-Z a-z 0-9 _ -");
        tcall_write_text(&w, *rule->more ? " " : "");
        tcall_write_text(&w, rule->more);
        tcall_write_text(&w,
                         rule->letter ? " and begin with a letter or _" : "");
        tcall_lint_tell_(l, "name", rule->provider, false,
                         tcall_slice_(text, w.fill));
    }
    for (; first < l->tool; first++)
        if (strcmp(first->name ? first->name : "", name) == 0) {
            tcall_lint_say_(l, "name", NULL, "another tool has this name");
            return;
        }
}

/* Appends a key of JSON text, quotes included, to the pointer. */
static void tcall_lint_key_(tcall_lint_ *l, const char *key)
{
    const char *end = tcall_text_skip_(key) - 1;
    while (++key < end)
        if (*key == '~' || *key == '/')
            tcall_write_text(&l->at, *key == '~' ? "~0" : "~1");
        else
            tcall_write_bytes(&l->at, key, 1);
}

enum { TCALL_LINT_LEVELS_ = 8 };

/* The pointer back at its first n bytes. */
static void tcall_lint_back_(tcall_lint_ *l, size_t n)
{
    l->at.len = n;
    l->at.fill = n < l->at.cap ? n : l->at.cap;
    l->at.error = n > l->at.cap ? TCALL_E_MEMORY : TCALL_OK;
}

/* Visits all parameters, those of parameters included. How many there are on
 * the first level; *nested: that there are further ones. */
TCALL_APART_ static int tcall_lint_parameters_(tcall_lint_ *l,
                                               const char *schema, bool *nested)
{
    struct {
        const char *next;
        size_t at; /* bytes of the pointer */
    } open[TCALL_LINT_LEVELS_];
    int depth = 0, count = 0;
    const char *p = tcall_text_get_(schema, "properties"), *items;
    tcall_lint_at_(l, "/parameters");
    open[0].next = p && *p == '{' ? tcall_text_next_(p + 1) : "";
    open[0].at = l->at.len;
    while (depth >= 0) {
        const char *key = open[depth].next;
        if (tcall_text_closes_(key)) {
            depth--;
            continue;
        }
        p = tcall_text_value_(key);
        open[depth].next = tcall_text_next_(tcall_text_skip_(p));
        count += depth == 0;
        tcall_lint_back_(l, open[depth].at);
        tcall_write_text(&l->at, "/properties/");
        tcall_lint_key_(l, key);
        items = tcall_text_get_(p, "description");
        if (!items || tcall_text_is_(items, ""))
            tcall_lint_say_(l, "parameter", NULL,
                            "has no description: say what it is, its unit and "
                            "its range");
        while ((items = tcall_text_get_(p, "items")) != NULL) {
            tcall_write_text(&l->at, "/items");
            p = items;
        }
        p = tcall_text_get_(p, "properties");
        if (p && *p == '{' && depth + 1 < TCALL_LINT_LEVELS_) {
            *nested = true;
            open[++depth].next = tcall_text_next_(p + 1);
            open[depth].at = l->at.len;
        }
    }
    return count;
}

TCALL_APART_ static void tcall_lint_description_(tcall_lint_ *l, int parameters,
                                                 bool nested)
{
    char text[TCALL_LINT_TEXT_];
    size_t tokens = tcall_lint_tokens(tcall_str_of(l->tool->description).len);
    size_t least = nested || parameters > 4 ? 25 : 10;
    size_t most = nested || parameters > 1 ? 40 : 20;
    tcall_writer w;
    tcall_lint_at_(l, "/description");
    if (tokens >= least && tokens <= most)
        return;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_text(&w, "has about ");
    tcall_write_int(&w, (long)tokens);
    tcall_write_text(&w, " tokens, should have ");
    tcall_write_int(&w, (long)least);
    tcall_write_text(&w, " to ");
    tcall_write_int(&w, (long)most);
    tcall_write_text(&w, ": what it does and when to use it");
    tcall_lint_tell_(l, "description", NULL, false, tcall_slice_(text, w.fill));
}

/* left: what the tools before have left of a provider's strict mode. */
TCALL_APART_ static void tcall_lint_strict_(tcall_lint_ *l,
                                            const char *provider,
                                            tcall_strict_budget_ *left)
{
    tcall_tool tool = *l->tool;
    tcall_strict_budget_ one = *left;
    tool.strict = true;
    if (!tcall_strict_spend_(&tool, &one))
        tcall_lint_tell_(l, "strict", provider, !l->tool->strict,
                         tcall_str_of("is sent without strict mode, which "
                                      "cannot say it or has reached a limit"));
    else if (l->tool->strict)
        *left = one;
}

TCALL_APART_ static void tcall_lint_refusal_(tcall_lint_ *l,
                                             const tcall_schema *s)
{
    char text[TCALL_LINT_TEXT_];
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_schema_error(&w, s);
    tcall_lint_tell_(l, "schema", NULL, false, tcall_slice_(text, w.fill));
}

TCALL_APART_ static bool tcall_lint_schema_(tcall_lint_ *l, const char *text)
{
    tcall_schema s;
    tcall_lint_at_(l, "/parameters");
    if (!text) {
        if (!l->tool->allow_no_schema)
            tcall_lint_say_(l, "schema", NULL,
                            "is missing: nothing would be checked");
        return !l->tool->allow_no_schema;
    }
    if (tcall_schema_compile(&s, tcall_str_of(text), NULL, 0,
                             TCALL_DRAFT_2020) != TCALL_E_SCHEMA)
        return true;
    tcall_lint_refusal_(l, &s);
    return tcall_scan_whole_(tcall_str_of(text)) == TCALL_OK;
}

int tcall_lint(const tcall_tool *tools, size_t tool_count,
               void (*found)(void *user, const tcall_finding *finding),
               void *user)
{
    tcall_strict_budget_ openai = tcall_strict_budget_of_(TCALL_STRICT_OPENAI);
    tcall_strict_budget_ anthropic =
        tcall_strict_budget_of_(TCALL_STRICT_ANTHROPIC);
    tcall_lint_ l;
    size_t i;
    memset(&l, 0, sizeof l);
    l.found = found;
    l.user = user;
    for (i = 0; i < tool_count; i++) {
        const char *text = tools[i].parameters;
        bool nested = false;
        int parameters = 0;
        l.tool = &tools[i];
        tcall_lint_name_(&l, tools);
        if (tcall_lint_schema_(&l, text) && text) {
            parameters =
                tcall_lint_parameters_(&l, tcall_text_space_(text), &nested);
            tcall_lint_at_(&l, "/parameters");
            tcall_lint_strict_(&l, "openai", &openai);
            tcall_lint_strict_(&l, "anthropic", &anthropic);
        }
        tcall_lint_description_(&l, parameters, nested);
    }
    return l.count;
}

size_t tcall_lint_bytes(const tcall_provider *provider, const tcall_tool *tools,
                        size_t tool_count)
{
    char empty[8];
    tcall_block none;
    tcall_chat chat;
    tcall_chat_request ask;
    tcall_writer with, without;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&none, empty, sizeof empty);
    tcall_chat_init(&chat, &none);
    ask.chat = &chat;
    ask.model = "";
    ask.allow = TCALL_EVERYTHING;
    tcall_writer_init(&without, NULL, 0);
    provider->write(provider, &without, &ask);
    ask.tools = tools;
    ask.tool_count = tool_count;
    tcall_writer_init(&with, NULL, 0);
    provider->write(provider, &with, &ask);
    return with.len - without.len;
}

#endif /* TOOLCALL_NO_LINT */
