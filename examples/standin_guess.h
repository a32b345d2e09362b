/*
 * standin_guess.h - how the stand-in chooses tools and fills in arguments
 *
 * There is no language model here. A request is cut into parts at commas and
 * "and"; for each part tcall_pick chooses the tool that shares most words with
 * it, and the arguments are the numbers, the words of an enum, on or off, and
 * the "quoted texts" of that part, in the order of the properties.
 */
#ifndef STANDIN_GUESS_H
#define STANDIN_GUESS_H

#include "toolcall.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GUESS_TOOLS = 256, GUESS_WORDS = 256, GUESS_CALLS = 8 };

typedef struct guess_word {
    tcall_str text; /* without its quotes */
    bool quoted;
    bool last; /* a part ends with it */
    bool used; /* it became an argument */
} guess_word;

typedef struct guess_call {
    const char *name;
    char arguments[4096];
} guess_call;

typedef struct guess {
    tcall_tool tools[GUESS_TOOLS];
    tcall_json parameters[GUESS_TOOLS]; /* of each */
    int tool_count;
    guess_word words[GUESS_WORDS];
    int word_count;
    int from, to; /* the words of the part at hand */
    guess_call calls[GUESS_CALLS];
    int call_count;
    const char *lonely; /* a tool that was meant, but lacks an argument */
    char missing[64];   /* that one's name */
    tcall tc;
    char memory[64 * 1024];
} guess;

/* ---- Words and parts ---- */

static bool is_word(const guess_word *w, const char *text)
{
    size_t len = strlen(text); /* a plural is as good: miles for mile */
    bool plural = w->text.len == len + 1 && tolower(w->text.ptr[len]) == 's';
    return (w->text.len == len || plural) &&
           strncasecmp(w->text.ptr, text, len) == 0;
}

/* Is the word one of a list, with a blank before and after each? */
static bool is_one_of(const guess_word *w, const char *list)
{
    char text[16];
    if (w->quoted || w->text.len + 3 > sizeof text)
        return false;
    snprintf(text, sizeof text, " %.*s ", (int)w->text.len, w->text.ptr);
    return strcasestr(list, text) != NULL;
}

static void split_words(guess *g, tcall_str request)
{
    const char *p = request.ptr, *end = p + request.len;
    g->word_count = 0;
    while (g->word_count < GUESS_WORDS) {
        guess_word *w = &g->words[g->word_count];
        const char *from;
        while (p < end && isspace((unsigned char)*p))
            p++;
        if (p == end)
            break;
        memset(w, 0, sizeof *w);
        w->quoted = *p == '"' && memchr(p + 1, '"', (size_t)(end - p - 1));
        from = p += w->quoted;
        while (p < end && (w->quoted ? *p != '"' : !isspace((unsigned char)*p)))
            p++;
        w->text = (tcall_str){from, (size_t)(p - from)};
        p += w->quoted;
        while (!w->quoted && w->text.len &&
               strchr(",;:.?!", w->text.ptr[w->text.len - 1])) {
            w->last = true;
            w->text.len--;
        }
        w->last = w->last || is_one_of(w, " and then ");
        g->word_count += w->text.len > 0 || w->quoted;
    }
}

/* ---- Arguments ---- */

static bool is_number(const guess_word *w, bool whole)
{
    char text[32], *end;
    if (w->quoted || w->text.len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)w->text.len, w->text.ptr);
    strtod(text, &end);
    return isdigit((unsigned char)text[*text == '-']) && !*end &&
           !(whole && strchr(text, '.'));
}

/* What a word is as a value of this schema: writes it, or answers false. */
static bool write_word(const guess_word *w, tcall_json schema, const char *type,
                       tcall_writer *out)
{
    tcall_json values = tcall_json_get(schema, "enum");
    if (values.tok) {
        tcall_json v = tcall_json_first(values);
        while (v.tok && !is_word(w, tcall_json_string(v, "")))
            v = tcall_json_next(v);
        return v.tok && tcall_write_json(out, v) == TCALL_OK;
    }
    if (strcmp(type, "boolean") == 0) {
        bool on = is_one_of(w, " on true yes ");
        return (on || is_one_of(w, " off false no ")) &&
               tcall_write_bool(out, on) == TCALL_OK;
    }
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return is_number(w, *type == 'i') &&
               tcall_write_verbatim(out, w->text) == TCALL_OK;
    return strcmp(type, "string") == 0 && w->quoted &&
           tcall_write_str(out, w->text) == TCALL_OK;
}

static bool fill_object(guess *g, tcall_json schema, tcall_writer *out);

/* The first word of the part that is not used and suits. */
static bool fill_value(guess *g, tcall_json schema, tcall_writer *out)
{
    tcall_json any = tcall_json_get(schema, "anyOf"), type;
    const char *name;
    bool filled;
    if (any.tok)
        schema = tcall_json_first(any);
    type = tcall_json_get(schema, "type");
    if (tcall_json_type(type) == TCALL_ARRAY)
        type = tcall_json_first(type);
    name = tcall_json_string(type, "");
    if (strcmp(name, "object") == 0)
        return fill_object(g, schema, out);
    if (strcmp(name, "array") == 0) {
        tcall_write_open(out, '[');
        filled = fill_value(g, tcall_json_get(schema, "items"), out);
        tcall_write_close(out, ']');
        return filled;
    }
    for (int i = g->from; i < g->to; i++) {
        guess_word *w = &g->words[i];
        if (!w->used && write_word(w, schema, name, out))
            return w->used = true;
    }
    return false;
}

static bool is_required(tcall_json schema, tcall_str name)
{
    tcall_json v = tcall_json_first(tcall_json_get(schema, "required"));
    while (v.tok && !tcall_str_eq(tcall_json_str(v), name))
        v = tcall_json_next(v);
    return v.tok != NULL;
}

/* All properties, those that are required first. False: one of these found
 * nothing, and missing is its name. */
static bool fill_object(guess *g, tcall_json schema, tcall_writer *out)
{
    tcall_json properties = tcall_json_get(schema, "properties");
    tcall_write_open(out, '{');
    for (int required = 1; required >= 0; required--)
        for (tcall_json p = tcall_json_first(properties); p.tok;
             p = tcall_json_next(p)) {
            tcall_str name = tcall_json_key(p);
            char value[2048];
            tcall_writer w;
            if (is_required(schema, name) != required)
                continue;
            tcall_writer_init(&w, value, sizeof value - 1);
            if (fill_value(g, p, &w)) {
                value[w.error ? 0 : w.len] = '\0';
                tcall_write_str(out, name);
                tcall_write_text(out, ":");
                tcall_write_verbatim(out, tcall_str_of(value));
            } else if (required) {
                snprintf(g->missing, sizeof g->missing, "%.*s", (int)name.len,
                         name.ptr);
                return false;
            }
        }
    tcall_write_close(out, '}');
    return true;
}

/* ---- Tools ---- */

static int never_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args, (void)out;
    return TCALL_E_FAILED;
}

/* Makes a registry of the tools, to pick from. What is wrong with them goes
 * to faults. */
static bool guess_tools(guess *g, tcall_writer *faults)
{
    tcall_desc d = {.block = g->memory,
                    .block_size = sizeof g->memory,
                    .tools = g->tools,
                    .tool_count = (size_t)g->tool_count,
                    .allow = TCALL_EVERYTHING,
                    .report = faults};
    for (int i = 0; i < g->tool_count; i++) {
        g->tools[i].run = never_run;
        g->tools[i].allow_no_schema = true;
    }
    return tcall_init(&g->tc, &d) == TCALL_OK;
}

/* Adds a call of this tool, if the part has all its arguments. */
static void add_call(guess *g, int tool)
{
    guess_call *call = &g->calls[g->call_count];
    tcall_writer w;
    for (int i = g->from; i < g->to; i++)
        g->words[i].used = false;
    tcall_writer_init(&w, call->arguments, sizeof call->arguments - 1);
    g->lonely = g->tools[tool].name;
    if (!fill_object(g, g->parameters[tool], &w) || w.error)
        return;
    call->arguments[w.len] = '\0';
    call->name = g->lonely;
    g->call_count++;
}

/* What a part asks for, if anything. Quoted texts are for tools, they do not
 * choose them. */
static void guess_part_call(guess *g)
{
    static const tcall_pick_opts opts = {.max = 1, .allow_unsafe = true};
    tcall_picked pick;
    char text[2048];
    size_t n = 0;
    text[0] = '\0';
    for (int i = g->from; i < g->to && n < sizeof text; i++)
        if (!g->words[i].quoted)
            n += (size_t)snprintf(text + n, sizeof text - n, "%.*s ",
                                  (int)g->words[i].text.len,
                                  g->words[i].text.ptr);
    if (g->call_count < GUESS_CALLS &&
        tcall_pick(&g->tc, tcall_str_of(text), &opts, &pick, 1) == 1)
        add_call(g, pick.index);
}

/* Makes the calls that a request asks for: those of its parts, or of all. */
static void guess_calls(guess *g, tcall_str request)
{
    split_words(g, request);
    g->call_count = g->from = 0;
    g->lonely = NULL;
    for (int i = 0; i < g->word_count; i++) {
        g->to = i + 1;
        if (!g->words[i].last && g->to < g->word_count)
            continue;
        guess_part_call(g);
        g->from = g->to;
    }
    g->from = 0;
    if (!g->call_count)
        guess_part_call(g);
}

#endif
