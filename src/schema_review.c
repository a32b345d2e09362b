#pragma once
#include "schema_errors.c"

/* ==========================================================================
 * >>schema_review: what no value can ever be right for
 *
 * A schema may compile and still be one that its author did not mean: bounds
 * that leave nothing between them, required names that are forbidden, a default
 * that is refused, arguments that cannot be an object. That is no error of JSON
 * Schema, so only tools are reviewed for it, when they are registered.
 */

#ifndef TOOLCALL_NO_SCHEMA
#ifndef TOOLCALL_NO_REVIEW

typedef struct tcall_sr_ {
    tcall_schema *schema;
    const tcall_author_ *author;
    tcall_block block; /* what is free after the program */
    tcall_check check;
} tcall_sr_;

static void tcall_sr_fault_(tcall_sr_ *review, const char *at,
                            const char *reason, const char *remedy)
{
    tcall_schema_fault_(review->schema, review->author,
                        (size_t)(at - review->schema->text), reason, remedy);
}

/* -- Bounds --------------------------------------------------------------- */

/* Is there a value between two bounds, which are for the same? */
static bool tcall_sr_between_(const tcall_schema *s, uint32_t low,
                              uint32_t high)
{
    const tcall_node_ *node = s->program;
    int above = tcall_node_op_(&node[low]), below = tcall_node_op_(&node[high]);
    bool open = above == TCALL_K_ABOVE_ || below == TCALL_K_BELOW_;
    tcall_num_ least, most;
    if (tcall_keyword_counts_(above))
        return node[low].arg <= node[high].arg;
    least =
        tcall_num_read_(tcall_slice_(tcall_node_at_(s, low), node[low].arg));
    most =
        tcall_num_read_(tcall_slice_(tcall_node_at_(s, high), node[high].arg));
    return tcall_num_compare_(&least, &most) < !open;
}

/* Compares each lower bound of a schema with each upper one. */
static void tcall_sr_bounds_(tcall_sr_ *review, uint32_t schema)
{
    const tcall_schema *s = review->schema;
    const tcall_node_ *node = s->program;
    uint32_t end = tcall_node_after_(node, schema), low, high;
    for (low = schema + 1; low < end; low = tcall_node_after_(node, low))
        for (high = schema + 1; high < end;
             high = tcall_node_after_(node, high)) {
            const tcall_keyword_ *least =
                &tcall_keywords_[tcall_node_op_(&node[low])];
            const tcall_keyword_ *most =
                &tcall_keywords_[tcall_node_op_(&node[high])];
            if (least->bound == TCALL_AT_LEAST_ &&
                most->bound == TCALL_AT_MOST_ && least->type == most->type &&
                !tcall_sr_between_(s, low, high))
                tcall_sr_fault_(review, tcall_node_at_(s, low),
                                "lower bound that leaves nothing under the "
                                "upper one:",
                                "change one of them");
        }
}

/* -- Names ---------------------------------------------------------------- */

/* Finds the names that a schema requires and does not permit. */
static void tcall_sr_names_(tcall_sr_ *review, uint32_t schema)
{
    const tcall_schema *s = review->schema;
    const tcall_node_ *node = s->program;
    uint32_t end = tcall_node_after_(node, schema);
    uint32_t map = tcall_node_child_(node, schema, end, TCALL_K_PROPERTIES_);
    uint32_t list = tcall_node_child_(node, schema, end, TCALL_K_REQUIRED_);
    uint32_t more = tcall_node_child_(node, schema, end, TCALL_K_ADDITIONAL_);
    uint32_t i = list + 1, next = map + 1;
    int32_t steps = INT32_MAX;
    if (!list || !more || node[more].arg & TCALL_TYPES_ANY_ ||
        tcall_node_child_(node, schema, end, TCALL_K_PATTERNS_))
        return;
    for (; i < tcall_node_after_(node, list); i++) {
        const char *at = tcall_node_at_(s, i);
        tcall_text_bytes_ name = tcall_text_bytes_of_(at);
        uint32_t property =
            map ? tcall_node_find_(s, map, next, &name, &steps) : 0;
        if (property)
            next = tcall_node_after_(node, property);
        else
            tcall_sr_fault_(review, at,
                            "name that additionalProperties forbids",
                            "add it to properties");
    }
}

/* -- Values --------------------------------------------------------------- */

enum { TCALL_SR_ERRORS_ = 8 };

/* Takes memory for a value and for what is wrong with it, and checks it. */
static int tcall_sr_try_(tcall_sr_ *review, uint32_t node, tcall_str text)
{
    tcall_block *block = &review->block;
    tcall_check *check = &review->check;
    char *copy = (char *)tcall_block_take_(block, text.len);
    tcall_tok_ *tokens;
    tcall_tree_ value;
    size_t count;
    check->errors = (tcall_validation_error *)tcall_block_take_(
        block, TCALL_SR_ERRORS_ * sizeof *check->errors);
    if (!copy || !check->errors)
        return TCALL_E_MEMORY;
    memcpy(copy, text.ptr, text.len);
    tcall_tree_parse_(&value, copy, text.len, NULL, 0, &count);
    tokens = (tcall_tok_ *)tcall_block_take_(block, count * sizeof *tokens);
    if (!tokens)
        return TCALL_E_MEMORY;
    tcall_tree_parse_(&value, copy, text.len, tokens, count, &count);
    check->error_cap = TCALL_SR_ERRORS_;
    check->memory = tcall_block_gap_(block);
    check->size = tcall_block_free_(block);
    return tcall_schema_check_at_(review->schema, node, value, check);
}

/* Checks a value in JSON text against the schema at a node. Its errors can be
 * read until the next one is checked; without room there are none. */
static int tcall_sr_check_(tcall_sr_ *review, uint32_t node, tcall_str text)
{
    size_t high = review->block.high;
    int r;
    memset(&review->check, 0, sizeof review->check);
    r = tcall_sr_try_(review, node, text);
    review->block.high = high;
    return r;
}

/* Tells of a default that its schema refuses. JSON Schema asks nothing of
 * defaults, and many that are published are wrong: it is a note. A null is what
 * generators write for none. */
static void tcall_sr_default_(tcall_sr_ *review, uint32_t schema)
{
    const char *text =
        tcall_text_get_(tcall_node_value_(review->schema, schema), "default");
    if (!text || *text == 'n' ||
        tcall_sr_check_(review, schema, tcall_text_verbatim_(text)) !=
            TCALL_E_INVALID)
        return;
    tcall_schema_remark_(
        review->schema, review->author, (size_t)(text - review->schema->text),
        "default that its own schema refuses:", "change one of them");
}

/* Tells of keywords that others may check: here they say nothing. */
static void tcall_sr_unchecked_(const tcall_sr_ *review, uint32_t schema)
{
    static const char *const rows[][2] = {
        {"nullable", "give null as one of its types"},
        {"format", "say it by pattern or enum, or check it in the tool"}};
    const char *value = tcall_node_value_(review->schema, schema);
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = tcall_text_get_(value, rows[i][0]);
        if (text && *text != 'f') /* nullable: false */
            tcall_schema_remark_(review->schema, review->author,
                                 (size_t)(text - review->schema->text),
                                 "keyword that is not checked:", rows[i][1]);
    }
}

/* Does this error of {} mean that no object is right, whatever is in it? What
 * `then` and `else` say counts only for some. */
static bool tcall_sr_refuses_objects_(const tcall_schema *s,
                                      const tcall_validation_error *error)
{
    const tcall_node_ *node = s->program;
    const char *at = tcall_node_at_(s, error->node);
    uint32_t up = error->node;
    for (; up; up = tcall_node_parent_(node, up)) {
        int op = tcall_node_op_(&node[up]);
        if (op == TCALL_K_THEN_ || op == TCALL_K_ELSE_)
            return false;
    }
    switch (error->keyword) {
    case TCALL_K_NEVER_:
    case TCALL_K_TYPE_: return true;
    case TCALL_K_NOT_:
        return tcall_node_after_(node, error->node) == error->node + 1;
    case TCALL_K_CONST_: return *at != '{';
    case TCALL_K_ENUM_:
        for (at = tcall_text_next_(at + 1); *at != ']' && *at != '{';)
            at = tcall_text_next_(tcall_text_skip_(at));
        return *at == ']';
    default: return false;
    }
}

/* Arguments are an object: the root has to take one. */
static void tcall_sr_object_(tcall_sr_ *review)
{
    const tcall_check *check = &review->check;
    const tcall_schema *s = review->schema;
    size_t i;
    tcall_sr_check_(review, 0, tcall_str_of("{}"));
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        if (tcall_sr_refuses_objects_(s, &check->errors[i])) {
            tcall_sr_fault_(
                review, tcall_text_space_(s->text),
                "parameters must take an object:", "arguments are one");
            break;
        }
}

/* -- Entry ---------------------------------------------------------------- */

/* Reviews one schema of a program. */
static void tcall_sr_schema_(tcall_sr_ *review, uint32_t schema)
{
    tcall_sr_bounds_(review, schema);
    tcall_sr_names_(review, schema);
    tcall_sr_default_(review, schema);
    tcall_sr_unchecked_(review, schema);
}

/* Is this the node of a schema, and not of a keyword, list or map? */
static bool tcall_sr_is_schema_(const tcall_node_ *node)
{
    int op = tcall_node_op_(node);
    return node->word & TCALL_SPANS_ && !(node->word & TCALL_IS_LIST_) &&
           op < TCALL_K_COUNT_ && op != TCALL_K_PATTERN_;
}

/* Reviews a schema whose program lies in the free part of the block; the rest
 * of that is scratch memory. Values are checked where it has room: no block has
 * to be larger for what only its author can mend. Returns TCALL_OK or
 * TCALL_E_SCHEMA. */
TCALL_SHARED_ TCALL_NOINLINE_ int
tcall_schema_review_(tcall_schema *schema, const tcall_author_ *author,
                     const tcall_block *block, bool arguments)
{
    tcall_sr_ review;
    uint32_t i;
    review.schema = schema;
    review.author = author;
    review.block = *block;
    tcall_block_grow_(&review.block, schema->need);
    if (arguments)
        tcall_sr_object_(&review);
    for (i = 0; i < schema->nodes; i = tcall_node_into_(schema->program, i))
        if (tcall_sr_is_schema_(&schema->program[i]))
            tcall_sr_schema_(&review, i);
    return schema->reason ? TCALL_E_SCHEMA : TCALL_OK;
}

#else

/* Without the review a schema that compiles will do. */
TCALL_SHARED_ int tcall_schema_review_(tcall_schema *schema,
                                       const tcall_author_ *author,
                                       const tcall_block *block, bool arguments)
{
    (void)schema;
    (void)author;
    (void)block;
    (void)arguments;
    return TCALL_OK;
}

#endif /* TOOLCALL_NO_REVIEW */
#endif /* TOOLCALL_NO_SCHEMA */
