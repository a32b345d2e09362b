#pragma once
#include "strict.h"
#include "tools.c"
#include "shape_text.c"

/* ==========================================================================
 * >>strict
 *
 * The schema's text is walked without recursion and written again keyword by
 * keyword, as a table says. It is written to a counter first: whether it fits
 * a strict mode is known only at its end.
 */

/* What one request may still hold of what a provider limits. */
typedef struct tcall_strict_budget_ {
    uint8_t mode; /* TCALL_STRICT_... */
    uint16_t tools, optional, unions;
} tcall_strict_budget_;

/* The text of the schema that is sent of a tool. */
TCALL_SHARED_ const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text = tool->provider_schema.text ? tool->provider_schema.text
                                                  : tool->parameters.text;
    text = text ? tcall_text_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

/* Anthropic publishes limits for all tools of a request together. */
TCALL_SHARED_ tcall_strict_budget_ tcall_strict_budget_of_(int mode)
{
    const bool limited = mode == TCALL_STRICT_ANTHROPIC;
    tcall_strict_budget_ budget;
    budget.mode = (uint8_t)mode;
    budget.tools = limited ? 20 : 999;
    budget.optional = limited ? 24 : 999;
    budget.unions = limited ? 16 : 999;
    return budget;
}

/* What the value of a keyword is. */
enum {
    TCALL_STRICT_COPY_,   /* data, copied as it is */
    TCALL_STRICT_SCHEMA_, /* a schema */
    TCALL_STRICT_LIST_,   /* an array of schemas */
    TCALL_STRICT_MAP_,    /* schemas by names that are no keywords */
    TCALL_STRICT_PROPERTIES_,
    TCALL_STRICT_FORMAT_,
    TCALL_STRICT_FEW_,   /* a number, which is said where it is 0 or 1 */
    TCALL_STRICT_CONST_, /* a value, which becomes an enum of one */
    TCALL_STRICT_REF_,   /* a schema elsewhere, written here */
    TCALL_STRICT_CLOSED_ /* additionalProperties */
};

/* Modes, for short. */
enum {
    TCALL_FOR_OPENAI_ = TCALL_STRICT_OPENAI,
    TCALL_FOR_ANTHROPIC_ = TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_BOTH_ = TCALL_STRICT_OPENAI | TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_OLLAMA_ = TCALL_STRICT_OLLAMA,
    TCALL_FOR_ALL_ = TCALL_FOR_BOTH_ | TCALL_STRICT_OLLAMA
};

/* A keyword. What is not listed is left out everywhere. */
typedef struct tcall_strict_keyword_ {
    const char *name;
    const char *written_as; /* NULL: the same */
    uint8_t value;          /* TCALL_STRICT_..._ */
    uint8_t kept;           /* the modes that have it */
    uint8_t unfit; /* the modes that cannot say it: the tool is not strict */
} tcall_strict_keyword_;

/* Other bounds, and pattern, are left out everywhere: they are checked when a
 * call comes. */
static const tcall_strict_keyword_ tcall_strict_keywords_[] = {
    {"type", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"description", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"title", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ANTHROPIC_, 0},
    {"enum", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"const", NULL, TCALL_STRICT_COPY_, TCALL_FOR_BOTH_, 0},
    {"const", "enum", TCALL_STRICT_CONST_, TCALL_FOR_OLLAMA_, 0},
    {"format", NULL, TCALL_STRICT_FORMAT_, TCALL_FOR_BOTH_, 0},
    {"properties", NULL, TCALL_STRICT_PROPERTIES_, TCALL_FOR_ALL_, 0},
    {"required", NULL, TCALL_STRICT_COPY_,
     TCALL_FOR_ANTHROPIC_ | TCALL_FOR_OLLAMA_, 0},
    {"items", NULL, TCALL_STRICT_SCHEMA_, TCALL_FOR_ALL_, 0},
    {"minItems", NULL, TCALL_STRICT_FEW_, TCALL_FOR_ANTHROPIC_, 0},
    {"anyOf", NULL, TCALL_STRICT_LIST_, TCALL_FOR_ALL_, 0},
    {"oneOf", "anyOf", TCALL_STRICT_LIST_, TCALL_FOR_ALL_, 0},
    {"allOf", NULL, TCALL_STRICT_LIST_, TCALL_FOR_ANTHROPIC_,
     TCALL_FOR_OPENAI_},
    {"$ref", NULL, TCALL_STRICT_COPY_, TCALL_FOR_BOTH_, 0},
    {"$ref", NULL, TCALL_STRICT_REF_, TCALL_FOR_OLLAMA_, 0},
    {"$defs", NULL, TCALL_STRICT_MAP_, TCALL_FOR_BOTH_, 0},
    {"definitions", NULL, TCALL_STRICT_MAP_, TCALL_FOR_OPENAI_,
     TCALL_FOR_ANTHROPIC_},
    {"additionalProperties", NULL, TCALL_STRICT_CLOSED_, 0, 0},
    {"patternProperties", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"prefixItems", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"dependentSchemas", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"if", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
};

/* Deeper brackets are copied as they are. Strict modes accept 10 levels of
 * schemas below the first. */
#define TCALL_STRICT_DEPTH_ 24

/* So many schemas of one tool are written where a $ref names them. */
#define TCALL_STRICT_REFS_ 32

/* Writes a schema again; open is the stack of brackets that are open. */
typedef struct tcall_strict_walk_ {
    tcall_view_ *view;
    uint8_t depth, level; /* of brackets, of schemas */
    uint8_t refs;         /* so many were followed */
    struct {
        const char *from; /* the bracket */
        const char *back; /* what is next after it, where a $ref led to it */
        uint8_t value;    /* TCALL_STRICT_..._ */
        bool nullable;
    } open[TCALL_STRICT_DEPTH_];
} tcall_strict_walk_;

/* Finds the row of a keyword, whose quotes are included, for the view's mode.
 */
static const tcall_strict_keyword_ *tcall_strict_find_(const tcall_view_ *view,
                                                       const char *key)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_strict_keywords_); i++) {
        const tcall_strict_keyword_ *keyword = &tcall_strict_keywords_[i];
        bool listed = ((keyword->kept | keyword->unfit) & view->mode) != 0 ||
                      keyword->value == TCALL_STRICT_CLOSED_;
        if (listed && tcall_text_is_(key, keyword->name))
            return keyword;
    }
    return NULL;
}

/* Returns whether a string is the name, or an array has it. Names may be
 * escaped in one place and not in the other. */
static bool tcall_strict_has_(const char *text, tcall_text_bytes_ name)
{
    const char *at = text && *text == '"' ? text : tcall_text_first_(text);
    for (; at && *at == '"';
         at = at == text ? NULL : tcall_text_after_(tcall_text_skip_(at)))
        if (tcall_text_match_(tcall_text_bytes_of_(at), name))
            return true;
    return false;
}

/* Returns whether the schema's type allows this one. */
static bool tcall_strict_type_(const char *schema, const char *word)
{
    return tcall_strict_has_(tcall_text_get_(schema, "type"),
                             tcall_text_bytes_in_(tcall_str_of(word)));
}

/* Returns whether it is what strict modes refuse: a value of any kind, an
 * object of any members, an array of anything? */
static bool tcall_strict_vague_(const char *schema)
{
    static const char *const kinds[] = {"type", "anyOf", "oneOf", "allOf",
                                        "$ref", "enum",  "const"};
    size_t i = 0;
    while (i < TCALL_ARRAY_LEN(kinds) && !tcall_text_get_(schema, kinds[i]))
        i++;
    return i == TCALL_ARRAY_LEN(kinds) ||
           (tcall_strict_type_(schema, "object") &&
            !tcall_text_get_(schema, "properties")) ||
           (tcall_strict_type_(schema, "array") &&
            !tcall_text_get_(schema, "items"));
}

/* Copies the value at p and returns its end. */
static const char *tcall_strict_copy_(tcall_strict_walk_ *walk, const char *p)
{
    tcall_str value = tcall_text_verbatim_(p);
    tcall_write_verbatim(walk->view->out, value);
    return p + value.len;
}

/* Puts a bracket on the stack; returns the next byte to look at. */
static const char *tcall_strict_push_(tcall_strict_walk_ *walk,
                                      const char *from, const char *back,
                                      uint8_t value, bool nullable)
{
    uint8_t depth = walk->depth++;
    walk->open[depth].from = from;
    walk->open[depth].back = back;
    walk->open[depth].value = value;
    walk->open[depth].nullable = nullable;
    walk->level = (uint8_t)(walk->level + (value == TCALL_STRICT_SCHEMA_));
    return from + 1;
}

/* Enters the bracket at p; returns the next byte to look at. */
static const char *tcall_strict_open_(tcall_strict_walk_ *walk, const char *p,
                                      uint8_t value, bool nullable)
{
    tcall_view_ *view = walk->view;
    if (value == TCALL_STRICT_SCHEMA_ && *p == '{') {
        const char *type = tcall_text_get_(p, "type");
        view->unions = (uint16_t)(view->unions + (type && *type == '['));
        view->unfit |=
            walk->level > TCALL_STRICT_LEVELS_ || tcall_strict_vague_(p);
    }
    if (*p != (value == TCALL_STRICT_LIST_ ? '[' : '{') ||
        walk->depth == TCALL_STRICT_DEPTH_) {
        view->unfit = true;
        return tcall_strict_copy_(walk, p);
    }
    tcall_write_open(view->out, *p);
    return tcall_strict_push_(walk, p, NULL, value, nullable);
}

/* Writes "required" with all names of properties, as they are escaped. */
static void tcall_strict_require_all_(tcall_strict_walk_ *walk,
                                      const char *properties)
{
    const char *name = tcall_text_first_(properties);
    TCALL_PUT_(walk->view->out, "\"required\":[");
    for (; name;
         name = tcall_text_after_(tcall_text_skip_(tcall_text_value_(name))))
        tcall_strict_copy_(walk, name);
    TCALL_SAY(walk->view->out, "]");
}

/* Ends the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_strict_close_schema_(tcall_strict_walk_ *walk,
                                       const char *schema)
{
    const char *properties = tcall_text_get_(schema, "properties");
    bool follows = walk->view->mode == TCALL_STRICT_OLLAMA;
    if (walk->depth == 0 && !tcall_text_get_(schema, "type") &&
        !(follows && tcall_text_get_(schema, "$ref")))
        TCALL_PUT_(walk->view->out, "\"type\":\"object\"");
    if (!properties || follows)
        return;
    TCALL_PUT_(walk->view->out, "\"additionalProperties\":false");
    if (walk->view->mode == TCALL_STRICT_OPENAI)
        tcall_strict_require_all_(walk, properties);
}

/* Begins an optional property: for OpenAI it is required and may be null. */
static bool tcall_strict_optional_(tcall_view_ *view)
{
    /* Anthropic counts them for the whole request. */
    view->optional++;
    if (view->mode != TCALL_STRICT_OPENAI)
        return false;
    TCALL_PUT_(view->out, "{\"anyOf\":[");
    return true;
}

/* Leaves the bracket that ends at p; returns the next byte to look at. */
static const char *tcall_strict_close_(tcall_strict_walk_ *walk, const char *p)
{
    uint8_t top = --walk->depth;
    bool schema = walk->open[top].value == TCALL_STRICT_SCHEMA_;
    walk->level = (uint8_t)(walk->level - schema);
    if (walk->open[top].back)
        return walk->open[top].back;
    if (schema)
        tcall_strict_close_schema_(walk, walk->open[top].from);
    tcall_write_close(walk->view->out, *p);
    if (walk->open[top].nullable)
        TCALL_PUT_(walk->view->out, "{\"type\":\"null\"}]}");
    return p + 1;
}

/* Returns whether the mode takes this value of a keyword that it has: formats
 * that it knows, and small numbers. */
static bool tcall_strict_takes_(uint8_t mode, uint8_t kind, const char *value)
{
    const char *known =
        "[\"uri\",\"date-time\",\"time\",\"date\",\"duration\",\"email\","
        "\"hostname\",\"ipv4\",\"ipv6\",\"uuid\"]";
    if (kind == TCALL_STRICT_FEW_)
        return (*value == '0' || *value == '1') &&
               tcall_text_verbatim_(value).len == 1;
    return kind != TCALL_STRICT_FORMAT_ ||
           (*value == '"' &&
            tcall_strict_has_(known, tcall_text_bytes_of_(value)) &&
            (mode == TCALL_STRICT_ANTHROPIC || !tcall_text_is_(value, "uri")));
}

/* Writes the value of a keyword that is kept, or enters it. */
static const char *tcall_strict_value_(tcall_strict_walk_ *walk,
                                       const tcall_strict_keyword_ *keyword,
                                       const char *value)
{
    tcall_write_key(walk->view->out,
                    keyword->written_as ? keyword->written_as : keyword->name);
    switch (keyword->value) {
    /* What holds schemas is entered, the rest is copied. */
    case TCALL_STRICT_LIST_: walk->view->unions++; /* fall through */
    case TCALL_STRICT_SCHEMA_:
    case TCALL_STRICT_MAP_:
    case TCALL_STRICT_PROPERTIES_:
        return tcall_strict_open_(walk, value, keyword->value, false);
    case TCALL_STRICT_CONST_:
        TCALL_SAY(walk->view->out, "[");
        value = tcall_strict_copy_(walk, value);
        TCALL_SAY(walk->view->out, "]");
        return value;
    default: return tcall_strict_copy_(walk, value);
    }
}

/* Returns the schema in the same text that a $ref names, or NULL. One that is
 * open already would lead into itself. */
static const char *tcall_strict_target_(const tcall_strict_walk_ *walk,
                                        const char *ref)
{
    const char *at = walk->open[0].from, *p = ref + 2;
    char name[TCALL_NAME_MAX_];
    uint8_t i;
    if (ref[0] != '"' || ref[1] != '#')
        return NULL;
    while (at && *p == '/') {
        bool object = *at == '{';
        int len;
        p++;
        len = tcall_pointer_step_(&p, name);
        at = len < 0 ? NULL
                     : tcall_text_member_(at, tcall_slice_(name, (size_t)len));
        if (at && object)
            at = tcall_text_value_(at);
    }
    if (!at || *p != '"' || *at != '{')
        return NULL;
    for (i = 0; i < walk->depth; i++)
        if (walk->open[i].from == at)
            return NULL;
    return at;
}

/* Ollama knows no $ref: the members of what it names are written in its place.
 * Returns the next byte to look at. */
static const char *tcall_strict_follow_(tcall_strict_walk_ *walk,
                                        const char *ref)
{
    const char *target = tcall_strict_target_(walk, ref);
    const char *next = tcall_text_skip_(ref);
    if (!target || walk->depth == TCALL_STRICT_DEPTH_ ||
        walk->refs == TCALL_STRICT_REFS_)
        return next;
    walk->refs++;
    return tcall_strict_push_(walk, target, next, TCALL_STRICT_SCHEMA_, false);
}

/* Does a schema that led here by a $ref have this keyword itself? */
static bool tcall_strict_is_hidden_(const tcall_strict_walk_ *walk,
                                    const char *keyword)
{
    int i;
    for (i = walk->depth - 1; walk->open[i].back; i--)
        if (tcall_text_get_(walk->open[i - 1].from, keyword))
            return true;
    return false;
}

/* A member of a schema. Returns the next byte to look at. */
static const char *tcall_strict_member_(tcall_strict_walk_ *walk,
                                        const char *key, const char *value)
{
    const tcall_strict_keyword_ *keyword = tcall_strict_find_(walk->view, key);
    uint8_t mode = walk->view->mode;
    bool doubled;
    if (keyword && keyword->value == TCALL_STRICT_REF_)
        return tcall_strict_follow_(walk, value);
    if (!keyword || tcall_strict_is_hidden_(walk, keyword->name))
        return tcall_text_skip_(value);
    /* oneOf is written as anyOf, which may be there already. */
    doubled =
        keyword->value == TCALL_STRICT_LIST_ && keyword->written_as &&
        tcall_text_get_(walk->open[walk->depth - 1].from, keyword->written_as);
    walk->view->unfit |=
        doubled || keyword->unfit & mode ||
        (keyword->value == TCALL_STRICT_CLOSED_ && *value != 'f');
    return doubled || !(keyword->kept & mode) ||
                   !tcall_strict_takes_(mode, keyword->value, value)
               ? tcall_text_skip_(value)
               : tcall_strict_value_(walk, keyword, value);
}

/* An element of a list of schemas, or a schema with its name. */
static const char *tcall_strict_schema_(tcall_strict_walk_ *walk, const char *p)
{
    uint8_t top = (uint8_t)(walk->depth - 1);
    bool nullable = false;
    if (walk->open[top].value != TCALL_STRICT_LIST_) {
        tcall_strict_copy_(walk, p);
        tcall_write_char_(walk->view->out, ':');
        nullable = walk->open[top].value == TCALL_STRICT_PROPERTIES_ &&
                   !tcall_strict_has_(
                       tcall_text_get_(walk->open[top - 1].from, "required"),
                       tcall_text_bytes_of_(p)) &&
                   tcall_strict_optional_(walk->view);
        p = tcall_text_value_(p);
    }
    return tcall_strict_open_(walk, p, TCALL_STRICT_SCHEMA_, nullable);
}

/* Writes the schema again. What is open decides what comes next: keywords, or
 * schemas in a list or by name. */
TCALL_NOINLINE_ static void tcall_strict_text_(tcall_view_ *view,
                                               const char *schema)
{
    tcall_strict_walk_ walk;
    const char *p;
    memset(&walk, 0, sizeof walk);
    walk.view = view;
    p = tcall_strict_open_(&walk, schema, TCALL_STRICT_SCHEMA_, false);
    while (walk.depth) {
        p = tcall_text_next_(p);
        if (!*p)
            return; /* a text that nobody checked ends too early */
        if (tcall_text_closes_(p))
            p = tcall_strict_close_(&walk, p);
        else if (walk.open[walk.depth - 1].value == TCALL_STRICT_SCHEMA_)
            p = tcall_strict_member_(&walk, p, tcall_text_value_(p));
        else
            p = tcall_strict_schema_(&walk, p);
    }
}

/* Writes a schema as it is, to the byte, but for the type that every provider
 * insists on. */
static void tcall_strict_plain_(tcall_writer *out, const char *schema)
{
    const char *end = tcall_text_skip_(schema);
    if (!tcall_text_get_(schema, "type")) {
        tcall_write_text(out, "{\"type\":\"object\"");
        if (!tcall_text_get_(schema, "properties"))
            tcall_write_text(out, ",\"properties\":{}");
        schema = tcall_text_space_(schema + 1);
        if (*schema != '}')
            tcall_write_text(out, ",");
    }
    tcall_write_bytes(out, schema, (size_t)(end - schema));
}

/* Writes the schema of a tool, from its text or its shape, as the mode wants
 * it. */
static tcall_view_ tcall_strict_tool_(tcall_writer *out, const tcall_tool *tool,
                                      uint8_t mode)
{
    const tcall_object *shape = tool->provider_schema.text ? NULL : tool->shape;
    tcall_view_ view = {out, mode, false, 0, 0};
    if (shape)
        tcall_view_shape_(&view, shape);
    else if (mode)
        tcall_strict_text_(&view, tcall_tool_schema_(tool));
    else
        tcall_strict_plain_(out, tcall_tool_schema_(tool));
    return view;
}

/* Returns whether the schema is that of an object, and not one of several. */
static bool tcall_strict_object_(const tcall_tool *tool)
{
    const char *schema = tcall_tool_schema_(tool);
    return (tool->shape && !tool->provider_schema.text) ||
           (tcall_strict_type_(schema, "object") &&
            !tcall_text_get_(schema, "anyOf") &&
            !tcall_text_get_(schema, "oneOf") &&
            !tcall_text_get_(schema, "allOf"));
}

/* Can the tool be sent as strict? Then what it takes of the budget is gone. */
TCALL_SHARED_ bool tcall_strict_spend_(const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    tcall_view_ needs;
    tcall_writer count;
    if (!tool->strict || !(budget->mode & TCALL_FOR_BOTH_) || !budget->tools)
        return false;
    tcall_writer_init(&count, NULL, 0);
    needs = tcall_strict_tool_(&count, tool, budget->mode);
    if (needs.unfit || !tcall_strict_object_(tool) ||
        needs.optional > budget->optional || needs.unions > budget->unions)
        return false;
    budget->tools--;
    budget->optional = (uint16_t)(budget->optional - needs.optional);
    budget->unions = (uint16_t)(budget->unions - needs.unions);
    return true;
}

/* Writes a tool's schema as the mode wants it, or as it is. Returns whether it
 * is strict. */
TCALL_SHARED_ bool tcall_strict_write_(tcall_writer *out,
                                       const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    bool strict = tcall_strict_spend_(tool, budget);
    tcall_strict_tool_(out, tool,
                       strict || budget->mode == TCALL_STRICT_OLLAMA
                           ? budget->mode
                           : (uint8_t)TCALL_STRICT_NONE);
    return strict;
}
