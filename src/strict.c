#pragma once
#include "strict.h"
#include "tools.c"

/* ==========================================================================
 * >>strict
 */

/* True when the string at p, quotes included, is this word. */
TCALL_SHARED_ bool tcall_view_is_(const char *p, const char *word)
{
    if (*p++ != '"')
        return false;
    for (; *word && *p == *word; word++)
        p++;
    return !*word && *p == '"';
}

/* The value of a member of the object at p, NULL when it is absent. */
TCALL_SHARED_ const char *tcall_view_get_(const char *p, const char *key)
{
    if (*p != '{')
        return NULL;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        bool found = tcall_view_is_(p, key);
        p = tcall_text_value_(p);
        if (found)
            return p;
    }
    return NULL;
}

/* What is sent of a tool's schema. */
TCALL_SHARED_ const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    text = text ? tcall_text_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

/* What stands behind a keyword. */
enum {
    TCALL_VIEW_COPY_,
    TCALL_VIEW_SCHEMA_,
    TCALL_VIEW_LIST_, /* of schemas */
    TCALL_VIEW_MAP_,  /* of schemas, by names that are not ours */
    TCALL_VIEW_PROPERTIES_,
    TCALL_VIEW_FORMAT_,
    TCALL_VIEW_ENUM_, /* one value becomes a list of one */
    TCALL_VIEW_CLOSED_
};

/* keep: the views that have the keyword. bar: those that cannot say what it
 * says, so that the tool is not sent as strict. Whatever is not here is left
 * out of all views. */
typedef struct tcall_view_word_ {
    char key[22];
    const char *as; /* NULL: the same */
    uint8_t what, keep, bar;
} tcall_view_word_;

static const tcall_view_word_ tcall_view_words_[] = {
    {"type", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"description", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"title", NULL, TCALL_VIEW_COPY_, 2, 0},
    {"enum", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"const", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"const", "enum", TCALL_VIEW_ENUM_, 4, 0},
    {"format", NULL, TCALL_VIEW_FORMAT_, 3, 0},
    {"properties", NULL, TCALL_VIEW_PROPERTIES_, 7, 0},
    {"required", NULL, TCALL_VIEW_COPY_, 6, 0},
    {"items", NULL, TCALL_VIEW_SCHEMA_, 7, 0},
    {"anyOf", NULL, TCALL_VIEW_LIST_, 7, 0},
    {"oneOf", "anyOf", TCALL_VIEW_LIST_, 7, 0},
    {"allOf", NULL, TCALL_VIEW_LIST_, 2, 1},
    {"$ref", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"$defs", NULL, TCALL_VIEW_MAP_, 3, 0},
    {"definitions", NULL, TCALL_VIEW_MAP_, 1, 2},
    {"additionalProperties", NULL, TCALL_VIEW_CLOSED_, 0, 0},
    {"patternProperties", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"prefixItems", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"dependentSchemas", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"if", NULL, TCALL_VIEW_COPY_, 0, 3},
};

/* Deeper brackets are copied as they are. Strict modes know 10 levels of
 * schemas below the first. */
#define TCALL_VIEW_DEPTH_  24
#define TCALL_VIEW_LEVELS_ 10

typedef struct tcall_view_ {
    tcall_writer *w;
    uint8_t profile;
    bool unfit;                /* cannot be strict */
    uint8_t depth, level;      /* of brackets, of schemas */
    uint16_t optional, unions; /* seen; vendors limit their number */
    struct {
        const char *from; /* the bracket that is open */
        uint8_t what;
        bool nullable;
    } open[TCALL_VIEW_DEPTH_];
} tcall_view_;

static const tcall_view_word_ *tcall_view_find_(const tcall_view_ *v,
                                                const char *key)
{
    const tcall_view_word_ *w = tcall_view_words_;
    for (; w < tcall_view_words_ + TCALL_ARRAY_LEN(tcall_view_words_); w++)
        if (((w->keep | w->bar) & v->profile ||
             w->what == TCALL_VIEW_CLOSED_) &&
            tcall_view_is_(key, w->key))
            return w;
    return NULL;
}

static bool tcall_view_type_(const char *schema, const char *word)
{
    const char *type = tcall_view_get_(schema, "type"), *m;
    if (!type || *type == '"')
        return type && tcall_view_is_(type, word);
    for (m = tcall_text_next_(type + (*type == '[')); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
        if (tcall_view_is_(m, word))
            return true;
    return false;
}

/* What strict modes refuse: a value of any kind, an object of any members, an
 * array of anything. */
static bool tcall_view_vague_(const char *schema)
{
    static const char says[] = "type\0anyOf\0oneOf\0allOf\0$ref\0enum\0const\0";
    const char *word = says;
    while (*word && !tcall_view_get_(schema, word))
        word += strlen(word) + 1;
    return !*word ||
           (tcall_view_type_(schema, "object") &&
            !tcall_view_get_(schema, "properties")) ||
           (tcall_view_type_(schema, "array") &&
            !tcall_view_get_(schema, "items"));
}

static const char *tcall_view_copy_(tcall_view_ *v, const char *p)
{
    const char *end = tcall_text_skip_(p);
    tcall_write_verbatim(v->w, tcall_slice_(p, (size_t)(end - p)));
    return end;
}

/* Enters what the bracket at p opens; the next byte to look at. */
static const char *tcall_view_open_(tcall_view_ *v, const char *p, uint8_t what,
                                    bool nullable)
{
    const char *type;
    if (what == TCALL_VIEW_SCHEMA_ && *p == '{') {
        type = tcall_view_get_(p, "type");
        v->unions = (uint16_t)(v->unions + (type && *type == '['));
        v->unfit =
            v->unfit || v->level > TCALL_VIEW_LEVELS_ || tcall_view_vague_(p);
    }
    if (*p != (what == TCALL_VIEW_LIST_ ? '[' : '{') ||
        v->depth == TCALL_VIEW_DEPTH_) {
        v->unfit = true;
        return tcall_view_copy_(v, p);
    }
    tcall_write_open(v->w, *p);
    v->open[v->depth].from = p;
    v->open[v->depth].what = what;
    v->open[v->depth].nullable = nullable;
    v->depth++;
    v->level = (uint8_t)(v->level + (what == TCALL_VIEW_SCHEMA_));
    return p + 1;
}

static bool tcall_view_requires_(const char *schema, const char *key)
{
    const char *list = tcall_view_get_(schema, "required");
    size_t n = tcall_text_verbatim_(key).len;
    const char *m = tcall_text_first_(list);
    for (; m && !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
        if (strncmp(m, key, n) == 0)
            return true;
    return false;
}

/* Behind the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_view_close_schema_(tcall_view_ *v, const char *schema)
{
    const char *m = tcall_view_get_(schema, "properties");
    if (v->depth == 0 && !tcall_view_get_(schema, "type")) {
        tcall_write_key(v->w, "type");
        tcall_write_string(v->w, "object");
    }
    if (!m || v->profile == TCALL_STRICT_OLLAMA)
        return;
    tcall_write_key(v->w, "additionalProperties");
    tcall_write_bool(v->w, false);
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return;
    tcall_write_key(v->w, "required");
    tcall_write_open(v->w, '[');
    for (m = tcall_text_next_(m + 1); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m))) {
        tcall_view_copy_(v, m);
        m = tcall_text_value_(m);
    }
    tcall_write_close(v->w, ']');
}

/* An optional property: for OpenAI it is required and may be null. */
static bool tcall_view_optional_(tcall_view_ *v)
{
    v->optional++;
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return false;
    tcall_write_open(v->w, '{');
    tcall_write_key(v->w, "anyOf");
    tcall_write_open(v->w, '[');
    return true;
}

static const char *tcall_view_close_(tcall_view_ *v, const char *p)
{
    v->depth--;
    if (v->open[v->depth].what == TCALL_VIEW_SCHEMA_) {
        v->level--;
        tcall_view_close_schema_(v, v->open[v->depth].from);
    }
    tcall_write_close(v->w, *p);
    if (v->open[v->depth].nullable) {
        tcall_write_verbatim(v->w, tcall_str_of("{\"type\":\"null\"}"));
        tcall_write_close(v->w, ']');
        tcall_write_close(v->w, '}');
    }
    return p + 1;
}

static bool tcall_view_format_(const char *p)
{
    static const char known[] = "date-time\0time\0date\0duration\0email\0"
                                "hostname\0ipv4\0ipv6\0uuid\0";
    const char *word = known;
    while (*word && !tcall_view_is_(p, word))
        word += strlen(word) + 1;
    return *word != 0;
}

/* A member of a schema: key is at p, its value at value. */
static const char *tcall_view_keyword_(tcall_view_ *v, const char *p,
                                       const char *value)
{
    const tcall_view_word_ *word = tcall_view_find_(v, p);
    if (word && word->what == TCALL_VIEW_CLOSED_ && *value != 'f')
        v->unfit = true;
    if (word && word->bar & v->profile)
        v->unfit = true;
    if (!word || !(word->keep & v->profile) ||
        (word->what == TCALL_VIEW_FORMAT_ && !tcall_view_format_(value)))
        return tcall_text_skip_(value);
    if (word->as && word->what == TCALL_VIEW_LIST_ &&
        tcall_view_get_(v->open[v->depth - 1].from, word->as)) {
        v->unfit = true; /* it would stand there twice */
        return tcall_text_skip_(value);
    }
    tcall_write_key(v->w, word->as ? word->as : word->key);
    switch (word->what) {
    case TCALL_VIEW_LIST_: v->unions++; /* fall through */
    case TCALL_VIEW_SCHEMA_:
    case TCALL_VIEW_MAP_:
    case TCALL_VIEW_PROPERTIES_:
        return tcall_view_open_(v, value, word->what, false);
    case TCALL_VIEW_ENUM_:
        tcall_write_open(v->w, '[');
        value = tcall_view_copy_(v, value);
        tcall_write_close(v->w, ']');
        return value;
    default: return tcall_view_copy_(v, value);
    }
}

/* Writes a view of the schema at p. No recursion: v->open is the stack. */
static void tcall_view_write_(tcall_view_ *v, const char *p)
{
    p = tcall_view_open_(v, p, TCALL_VIEW_SCHEMA_, false);
    while (v->depth) {
        uint8_t top = (uint8_t)(v->depth - 1), what = v->open[top].what;
        bool nullable;
        const char *m = tcall_text_next_(p), *value;
        if (!*m)
            return;
        if (tcall_text_closes_(m)) {
            p = tcall_view_close_(v, m);
            continue;
        }
        value = what == TCALL_VIEW_LIST_ ? m : tcall_text_value_(m);
        if (what == TCALL_VIEW_SCHEMA_) {
            p = tcall_view_keyword_(v, m, value);
            continue;
        }
        if (what != TCALL_VIEW_LIST_) {
            tcall_view_copy_(v, m);
            tcall_write_char_(v->w, ':');
        }
        nullable = what == TCALL_VIEW_PROPERTIES_ &&
                   !tcall_view_requires_(v->open[top - 1].from, m) &&
                   tcall_view_optional_(v);
        p = tcall_view_open_(v, value, TCALL_VIEW_SCHEMA_, nullable);
    }
}

bool tcall_view(tcall_writer *w, const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    tcall_writer count;
    tcall_view_ v;
    tcall_writer_init(&count, NULL, 0);
    memset(&v, 0, sizeof v);
    v.profile = left->profile;
    v.w = &count;
    if (v.profile != TCALL_STRICT_OLLAMA) {
        tcall_view_write_(&v, p);
        if (!tool->strict || v.unfit || !tcall_view_type_(p, "object") ||
            tcall_view_get_(p, "anyOf") || tcall_view_get_(p, "oneOf") ||
            tcall_view_get_(p, "allOf") || !left->tools ||
            v.optional > left->optional || v.unions > left->unions)
            return false;
        left->tools--;
        left->optional = (uint16_t)(left->optional - v.optional);
        left->unions = (uint16_t)(left->unions - v.unions);
    }
    v.w = w;
    tcall_view_write_(&v, p);
    return true;
}
