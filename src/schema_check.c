#pragma once
#include "schema.c"

/* ==========================================================================
 * >>schema_check: values against a schema
 *
 * Checking is one loop over a stack of small frames, one per schema that is at
 * work on a value. Each turn looks at the next node of the top frame: an
 * assertion is decided at once, a schema is applied to the next value that it
 * is for, which may push a frame; what that says is counted or is an error. The
 * members of an object and the elements of an array are gone through once, each
 * with all that is for it.
 * Quiet frames (in anyOf, not, if ...) stop at the first error and report none.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* A schema at work on a value. */
typedef struct tcall_ev_frame_ {
    uint8_t flags;
    uint8_t type;      /* of the value, as the schema sees it */
    uint8_t holding;   /* anyOf, oneOf: how many hold, 2: several */
    uint32_t schema;   /* its node */
    uint32_t pc;       /* the keyword that is at work */
    uint32_t tok;      /* the value */
    uint32_t cur;      /* the value that pc was applied to last, or NEVER */
    uint32_t met;      /* required properties that were met */
    uint32_t required; /* the list of their names, or 0 */
    union {
        struct {              /* of a keyword that asks */
            uint32_t branch;  /* the schema that decides: then, one of anyOf */
            uint32_t reached; /* how far that came */
            uint32_t matches; /* contains: how many elements match */
        } ask;
        struct {            /* of all that are for members or elements */
            uint32_t at;    /* the schema applied to cur last, or 0 */
            uint32_t first; /* properties or prefixItems */
            uint32_t next;  /* what comes after the one that was found last */
            uint32_t patterns; /* patternProperties */
            uint32_t others;   /* additionalProperties, items */
        } walk;
    } by;
} tcall_ev_frame_;

enum {
    TCALL_F_BAD_ = 1,
    TCALL_F_QUIET_ = 2,   /* stop at the first error, report none */
    TCALL_F_STRICT_ = 4,  /* no coercion */
    TCALL_F_DRY_ = 8,     /* coerce, but mark nothing */
    TCALL_F_ALIKE_ = 14,  /* what a schema hands down */
    TCALL_F_TEST_ = 6,    /* what it hands down to ask a question */
    TCALL_F_RETRY_ = 16,  /* choices: once more, with coercion */
    TCALL_F_LAST_ = 32,   /* the branch is at work and decides */
    TCALL_F_ABSENT_ = 64, /* the null at cur may count as absent */
    TCALL_F_WALKED_ = 128 /* members or elements have been checked */
};

/* No answer yet: a frame is at work on it. */
#define TCALL_PUSHED_ (-1)

typedef struct tcall_ev_ {
    const tcall_schema *s;
    const tcall_node_ *program;
    tcall_check *check;
    const char *text; /* of the value */
    tcall_tok_ *tok;  /* the value's own is the first */
    tcall_ev_frame_ *frame;
    size_t pad, size; /* of the scratch memory */
    uint32_t depth;   /* frames */
    int32_t steps;
    int error;
    uint32_t progress; /* of the last error, reported or not: its token, and
                        * what failed was not the type */
    uint32_t num_tok;  /* the token that num was read from */
    tcall_num_ num;
} tcall_ev_;

static tcall_str tcall_ev_of_(const tcall_ev_ *e, uint32_t tok)
{
    return tcall_tok_str_(e->text, &e->tok[tok]);
}

static unsigned tcall_ev_kind_(const tcall_ev_ *e, uint32_t tok)
{
    return (unsigned)e->tok[tok].type & TCALL_TYPE_;
}

static uint32_t tcall_ev_after_(const tcall_ev_ *e, uint32_t tok)
{
    return tok + (uint32_t)e->tok[tok].span;
}

/* The number at hand, read once for all keywords that look at it. */
static const tcall_num_ *tcall_ev_num_(tcall_ev_ *e, uint32_t tok)
{
    if (e->num_tok != tok)
        e->num = tcall_num_read_(tcall_ev_of_(e, tok));
    e->num_tok = tok;
    return &e->num;
}

/* Notes an error, unless the flags are those of a question. */
static void tcall_ev_error_(tcall_ev_ *e, unsigned flags,
                            tcall_validation_error error)
{
    tcall_check *check = e->check;
    bool typed =
        error.keyword == TCALL_K_TYPE_ || error.keyword == TCALL_K_NEVER_;
    e->progress = 2 * error.tok + !typed;
    if (flags & TCALL_F_QUIET_)
        return;
    if (check->errors && check->error_count < check->error_cap)
        check->errors[check->error_count] = error;
    check->error_count++;
}

static tcall_validation_error tcall_ev_wrong_(uint32_t tok, int keyword,
                                              uint32_t node, uint32_t count)
{
    tcall_validation_error error;
    error.tok = tok;
    error.node = node;
    error.count = count;
    error.keyword = (uint32_t)keyword;
    return error;
}

/* The frame's value fails at a node. */
static void tcall_ev_fails_(tcall_ev_ *e, tcall_ev_frame_ *f, uint32_t node,
                            uint32_t count)
{
    int op = tcall_node_op_(&e->program[node]);
    tcall_ev_error_(e, f->flags, tcall_ev_wrong_(f->tok, op, node, count));
    f->flags |= TCALL_F_BAD_;
}

/* Whether a frame is done: it failed, and nobody asks for what else is wrong.
 */
static bool tcall_ev_over_(const tcall_ev_frame_ *f)
{
    const unsigned both = TCALL_F_BAD_ | TCALL_F_QUIET_;
    return (f->flags & both) == both;
}

/* Scratch above the frames. NULL, with the error, when there is too little. */
static void *tcall_ev_scratch_(tcall_ev_ *e, size_t size)
{
    size_t frames = e->pad + e->depth * sizeof *e->frame;
    if (e->check->need < frames + size)
        e->check->need = frames + size;
    if (frames + size <= e->size)
        return (char *)e->check->memory + frames;
    if (!e->error)
        e->error = TCALL_E_MEMORY;
    return NULL;
}

TCALL_NOINLINE_ static bool tcall_ev_match_(tcall_ev_ *e, uint32_t node,
                                            uint32_t tok)
{
#ifndef TOOLCALL_NO_PATTERN
    tcall_str text = tcall_ev_of_(e, tok);
    tcall_pattern pattern;
    tcall_search search;
    uint32_t len = (uint32_t)text.len, states;
    memset(&pattern, 0, sizeof pattern);
    memset(&search, 0, sizeof search);
    pattern.program = &e->program[node + 1];
    pattern.count = tcall_node_after_(e->program, node) - node - 1;
    pattern.states = pattern.program[pattern.count - 1].word >> TCALL_RE_VALUE_;
    search.memory = tcall_ev_scratch_(e, e->s->search);
    /* each character costs as much as the pattern is large */
    states = 1 + pattern.states / 16;
    e->steps = len < TOOLCALL_MAX_STEPS / states
                   ? e->steps - (int32_t)((len + 1) * states)
                   : -1;
    if (search.memory && e->steps >= 0)
        return tcall_pattern_find(&pattern, &search, text, true) != NULL;
#else
    (void)e, (void)node, (void)tok;
#endif
    return false;
}

static uint32_t tcall_ev_end_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    return tcall_node_after_(e->program, f->schema);
}

/* Whether the frame's object has the member that a node names. The search
 * begins at *key, after the one that was found last. */
static bool tcall_ev_find_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           uint32_t node, uint32_t *key)
{
    uint32_t first = f->tok + 1, end = tcall_ev_after_(e, f->tok), from = *key;
    bool found = false;
    if (first == end)
        return false;
    do {
        tcall_text_bytes_ name = tcall_text_bytes_in_(tcall_ev_of_(e, *key));
        found = --e->steps >= 0 && tcall_node_named_(e->s, node, &name);
        *key = tcall_ev_after_(e, *key + 1);
        if (*key == end)
            *key = first;
    } while (!found && e->steps >= 0 && *key != from);
    return found;
}

/* Is the value like the JSON text at p, but for what is within them? type: what
 * the value counts as. */
static bool tcall_ev_alike_(tcall_ev_ *e, uint32_t tok, unsigned type,
                            const char *p)
{
    tcall_str s = tcall_ev_of_(e, tok);
    tcall_num_ n;
    if (--e->steps < 0 || tcall_text_type_(p) != type)
        return false;
    if (type == TCALL_STRING)
        return tcall_text_same_(p, s);
    if (type != TCALL_NUMBER)
        return type >= TCALL_ARRAY || *p == (*s.ptr | 0x20);
    n = tcall_num_read_(tcall_text_verbatim_(p));
    return tcall_num_compare_(tcall_ev_num_(e, tok), &n) == 0;
}

/* Is the value equal to the JSON text at p? While they are compared the mark of
 * a container says where in that text its like begins. */
static bool tcall_ev_is_(tcall_ev_ *e, uint32_t tok, unsigned type,
                         const char *p)
{
    uint32_t i = tok, end;
    bool same;
    if (*p == '"')
        return type == TCALL_STRING &&
               tcall_text_same_(p, tcall_ev_of_(e, tok));
    same = tcall_ev_alike_(e, tok, type, p);
    for (end = tcall_ev_after_(e, tok); i < end; i++) {
        unsigned kind = tcall_ev_kind_(e, i), object = kind - TCALL_ARRAY;
        uint32_t x = i + 1 + object, stop = tcall_ev_after_(e, i);
        const char *all, *y, *next;
        bool closes;
        if (kind < TCALL_ARRAY)
            continue;
        all = p + e->tok[i].mark;
        e->tok[i].mark = TCALL_MARK_NONE_;
        for (next = all + 1; same; x = tcall_ev_after_(e, x) + object) {
            y = next = tcall_text_next_(next);
            closes = tcall_text_closes_(y);
            same = closes == (x >= stop);
            if (closes || !same)
                break;
            if (object) {
                next = tcall_text_value_(y);
                y = tcall_text_member_(all, tcall_ev_of_(e, x - 1));
                y = y ? tcall_text_value_(y) : all;
                e->steps -= (int32_t)(y - all) / 16;
            }
            same = y > all && tcall_ev_alike_(e, x, tcall_ev_kind_(e, x), y);
            if (same && tcall_ev_kind_(e, x) >= TCALL_ARRAY)
                e->tok[x].mark = (int)(y - p);
            next = tcall_text_skip_(next);
        }
    }
    return same;
}

static bool tcall_ev_enum_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           const char *p)
{
    const char *next = tcall_text_next_(p + 1);
    while (*next != ']' && e->steps >= 0) {
        p = next;
        if (tcall_ev_is_(e, f->tok, f->type, p))
            return true;
        next = tcall_text_next_(tcall_text_skip_(p));
        e->steps -= 1 + (int32_t)((next - p) / 16);
    }
    return false;
}

/* A hash that equal values share: the sum of those of all scalars and names
 * within, whatever their order. */
static uint32_t tcall_ev_hash_(tcall_ev_ *e, uint32_t tok)
{
    uint32_t sum = 0, end = tcall_ev_after_(e, tok), i;
    for (i = tok; i < end; i++) {
        uint32_t hash = tcall_ev_kind_(e, i) + 1;
        tcall_num_ n;
        const char *digit;
        if (hash > TCALL_ARRAY) { /* 1 and [1] differ */
            sum += hash;
        } else if (hash != TCALL_NUMBER + 1) {
            sum += tcall_hash_more_(hash, tcall_ev_of_(e, i));
        } else { /* 1 and 1.0 do not */
            n = tcall_num_read_(tcall_ev_of_(e, i));
            hash += (uint32_t)(n.top * 4 + n.sign);
            for (digit = n.first; digit && digit <= n.last;)
                hash = hash * 31 + (uint32_t)tcall_num_digit_(&n, &digit);
            sum += n.sign ? hash * 2654435769u : 1;
        }
    }
    return sum;
}

/* A slot of the hash table of elements; element 0: free. */
typedef struct tcall_ev_slot_ {
    uint32_t hash, element;
} tcall_ev_slot_;

/* Whether two elements are equal. One is written into the scratch memory that
 * begins at text, after the hash table. */
static bool tcall_ev_equal_(tcall_ev_ *e, uint32_t a, uint32_t b, char *text)
{
    char *table = (char *)tcall_ev_scratch_(e, 0);
    tcall_writer w;
    tcall_writer_init(&w, text,
                      (size_t)((char *)e->check->memory + e->size - text));
    tcall_write_tree_(&w, tcall_tree_cursor_(e->text, &e->tok[a]));
    tcall_write_char_(&w, ' '); /* where a number ends */
    e->steps -= (int32_t)(w.len / 16);
    return tcall_ev_scratch_(e, (size_t)(text - table) + w.len) &&
           tcall_ev_is_(e, b, tcall_ev_kind_(e, b), text);
}

/* The elements go into a hash table one after the other; only those that hash
 * alike are compared. Returns the second of two that are equal, 0: none. */
static uint32_t tcall_ev_repeated_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_after_(e, f->tok), slots = 1, i, hash, k;
    tcall_ev_slot_ *table;
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i))
        slots += 2;
    table = (tcall_ev_slot_ *)tcall_ev_scratch_(e, slots * sizeof *table);
    if (!table)
        return 0;
    memset(table, 0, slots * sizeof *table);
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i)) {
        hash = tcall_ev_hash_(e, i);
        for (k = hash % slots; table[k].element; k = (k + 1) % slots)
            if (--e->steps < 0 || e->error ||
                (table[k].hash == hash &&
                 tcall_ev_equal_(e, i, table[k].element,
                                 (char *)(table + slots))))
                return i;
        table[k].hash = hash;
        table[k].element = i;
        e->steps--;
    }
    return 0;
}

/* Both are scaled so that the divisor is an integer; then the remainder is
 * carried through the digits. */
static bool tcall_ev_multiple_(const tcall_num_ *n, const tcall_num_ *by)
{
    const char *p = n->first;
    int digits = tcall_num_digits_(by), left = n->top - by->top + digits;
    uint32_t m = tcall_num_digits_value_(by, digits), rest = 0;
    if (!n->sign || left < tcall_num_digits_(n))
        return !n->sign;
    for (; left > 0; left--)
        rest = (rest * 10 + (uint32_t)tcall_num_digit_(n, &p)) % m;
    return rest == 0;
}

TCALL_NOINLINE_ static bool tcall_ev_bound_(tcall_ev_ *e,
                                            const tcall_ev_frame_ *f, int op)
{
    const tcall_num_ *n = tcall_ev_num_(e, f->tok);
    tcall_num_ bound = tcall_num_read_(
        tcall_slice_(tcall_node_at_(e->s, f->pc), e->program[f->pc].arg));
    int order;
    if (op == TCALL_K_MULTIPLE_)
        return tcall_ev_multiple_(n, &bound);
    order = tcall_num_compare_(n, &bound);
    if (tcall_keywords_[op].bound == TCALL_AT_MOST_)
        order = -order;
    if (op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_)
        return order > 0;
    return order >= 0;
}

/* The characters of a string, the elements of an array or the members of an
 * object. */
static uint32_t tcall_ev_length_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    tcall_str s = tcall_ev_of_(e, f->tok);
    uint32_t count = 0;
    size_t i;
    if (f->type != TCALL_STRING)
        return (uint32_t)tcall_tree_count_(
            tcall_tree_cursor_(e->text, &e->tok[f->tok]));
    for (i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* Whether the length is within a limit; if not, *length is what it is. */
static bool tcall_ev_within_(const tcall_ev_ *e, const tcall_ev_frame_ *f,
                             int op, uint32_t *length)
{
    bool most = tcall_keywords_[op].bound == TCALL_AT_MOST_;
    uint32_t limit = e->program[f->pc].arg;
    if (f->type == TCALL_STRING) {
        /* characters have up to 4 bytes: often there is no need to count */
        size_t bytes = tcall_ev_of_(e, f->tok).len;
        if (most ? bytes <= limit : bytes / 4 >= limit)
            return true;
    }
    *length = tcall_ev_length_(e, f);
    return most ? *length <= limit : *length >= limit;
}

/* required, after all else: where as many required properties were met as there
 * are names, none needs to be looked for. */
static void tcall_ev_required_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t i = f->required + 1, key = f->tok + 1;
    uint32_t end = tcall_node_after_(e->program, f->required);
    if (f->met == end - i)
        return;
    for (; i < end && e->steps >= 0 && !tcall_ev_over_(f); i++)
        if (!tcall_ev_find_(e, f, i, &key))
            tcall_ev_fails_(e, f, i, 0);
}

/* A keyword that applies no schema. */
static void tcall_ev_assert_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const char *at = tcall_node_at_(e->s, f->pc);
    uint32_t count = 0;
    bool ok = true;
    switch (op) {
    case TCALL_K_PATTERN_: ok = tcall_ev_match_(e, f->pc, f->tok); break;
    case TCALL_K_CONST_: ok = tcall_ev_is_(e, f->tok, f->type, at); break;
    case TCALL_K_ENUM_: ok = tcall_ev_enum_(e, f, at); break;
    case TCALL_K_UNIQUE_:
        count = tcall_ev_repeated_(e, f);
        ok = !count;
        break;
    case TCALL_K_REQUIRED_: f->required = f->pc; break;
    default:
        if (tcall_keywords_[op].type == TCALL_NUMBER)
            ok = tcall_ev_bound_(e, f, op);
        else if (tcall_keywords_[op].type != TCALL_MISSING)
            ok = tcall_ev_within_(e, f, op, &count);
    }
    if (!ok)
        tcall_ev_fails_(e, f, f->pc, count);
}

static void tcall_ev_mark_(tcall_ev_ *e, uint32_t tok, int mark, unsigned flags)
{
    if (flags & TCALL_F_DRY_)
        return;
    e->check->coerced += e->tok[tok].mark == TCALL_MARK_NONE_;
    e->tok[tok].mark = mark;
}

/* The type that a string may stand for, one of the types wanted, and the mark
 * that says how; or 0. Types are bits, as in a node's argument. What is inside
 * a container is checked when it was parsed. */
TCALL_SHARED_ unsigned tcall_meant_type_(tcall_scan *scan, tcall_str s,
                                         uint32_t types, int *mark)
{
    unsigned type = TCALL_BOOL;
    *mark = TCALL_MARK_LITERAL_;
    if (!tcall_text_same_("\"True\"", s) && !tcall_text_same_("\"False\"", s)) {
        if (tcall_scan_text_(scan, s) != TCALL_OK || tcall_is_space_(*s.ptr))
            return 0;
        type = tcall_text_type_(s.ptr);
        *mark = TCALL_MARK_JSON_;
        if (type == TCALL_NULL ||
            (type < TCALL_ARRAY && tcall_is_space_(s.ptr[s.len - 1])))
            return 0;
        if (type == TCALL_NUMBER) {
            tcall_num_ number = tcall_num_read_(s);
            if (!tcall_num_in_range_(s))
                return 0;
            if (types & TCALL_INTEGER_ && tcall_num_integral_(&number) &&
                !memchr(s.ptr, 'e', s.len) && !memchr(s.ptr, 'E', s.len))
                types |= 1u << (TCALL_NUMBER - 1);
        }
    }
    return types >> (type - 1) & 1 ? type : 0;
}

/* The same for a token, which is marked. */
TCALL_NOINLINE_ static unsigned tcall_ev_coerced_(tcall_ev_ *e, uint32_t types,
                                                  uint32_t tok, unsigned flags)
{
    tcall_scan *scan = (tcall_scan *)tcall_ev_scratch_(e, sizeof *scan);
    int mark;
    unsigned type =
        scan ? tcall_meant_type_(scan, tcall_ev_of_(e, tok), types, &mark) : 0;
    if (type)
        tcall_ev_mark_(e, tok, mark, flags);
    return type;
}

/* The type that a value counts as which is not of the types wanted, 0: that is
 * an error. */
static unsigned tcall_ev_retype_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                                 unsigned flags)
{
    uint32_t types = e->program[schema].arg >> TCALL_TYPES_ & 0x7F;
    unsigned type = tcall_ev_kind_(e, tok), as = 0;
    if (type == TCALL_NUMBER && types & TCALL_INTEGER_)
        as = tcall_num_integral_(tcall_ev_num_(e, tok)) ? type : 0;
    else if (type == TCALL_STRING && types && !(flags & TCALL_F_STRICT_))
        as = tcall_ev_coerced_(e, types, tok, flags);
    if (!as)
        tcall_ev_error_(e, flags,
                        tcall_ev_wrong_(tok,
                                        types ? TCALL_K_TYPE_ : TCALL_K_NEVER_,
                                        schema, 0));
    return as;
}

/* Decides the assertions of the frame on top, up to the next keyword that
 * applies schemas: TCALL_PUSHED_. All for members or elements are at work at
 * once; of other lists each schema is. When there is none left the frame goes,
 * with the answer. */
static int tcall_ev_resume_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_end_(e, f), next;
    f->cur = TCALL_NEVER_;
    for (; f->pc < end && !tcall_ev_over_(f); f->pc = next) {
        const tcall_node_ *node = &e->program[f->pc];
        int op = tcall_node_op_(node);
        const tcall_keyword_ *keyword = &tcall_keywords_[op];
        bool its = keyword->type == TCALL_MISSING || keyword->type == f->type;
        next = tcall_node_after_(e->program, f->pc);
        e->steps--;
        if (keyword->applies == TCALL_ASSERTS_) {
            if (its)
                tcall_ev_assert_(e, f, op);
        } else if (keyword->applies == TCALL_TO_CHILDREN_) {
            if (its && !(f->flags & TCALL_F_WALKED_))
                return TCALL_PUSHED_;
        } else if (keyword->applies < TCALL_TO_CHILDREN_) {
            if (node->word & TCALL_IS_LIST_)
                next = f->pc + 1;
            else if (its)
                return TCALL_PUSHED_;
        }
    }
    if (f->required)
        tcall_ev_required_(e, f);
    e->depth--;
    return !(f->flags & TCALL_F_BAD_);
}

/* Applies a schema to a value: 1 it holds, 0 it does not, TCALL_PUSHED_: a
 * frame is at work on it. */
static int tcall_ev_enter_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                           unsigned flags)
{
    uint32_t arg = e->program[schema].arg;
    unsigned type = tcall_ev_kind_(e, tok);
    tcall_ev_frame_ *f;
    if (!(arg >> (type + TCALL_TYPES_ - 1) & 1)) {
        type = tcall_ev_retype_(e, schema, tok, flags);
        if (!type || type >= TCALL_ARRAY)
            return type != 0;
    }
    if ((arg & TCALL_SPAN_) == 1)
        return 1;
    f = (tcall_ev_frame_ *)tcall_ev_scratch_(e, sizeof *f);
    if (e->depth == TOOLCALL_MAX_FRAMES)
        e->error = TCALL_E_DEPTH;
    if (e->error)
        return 0;
    e->depth++;
    memset(f, 0, sizeof *f);
    f->schema = schema;
    f->pc = schema + 1;
    f->tok = tok;
    f->type = (uint8_t)type;
    f->flags = (uint8_t)flags;
    return tcall_ev_resume_(e, f);
}

TCALL_NOINLINE_ static uint32_t
tcall_ev_child_(const tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    return tcall_node_child_(e->program, f->schema, tcall_ev_end_(e, f), op);
}

/* The next value that the schema at pc is for, NEVER: there is none left. */
static uint32_t tcall_ev_next_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    uint32_t end = tcall_ev_after_(e, f->tok), next = f->tok + 1;
    uint32_t member = f->type == TCALL_OBJECT;
    switch (tcall_keywords_[op].applies) {
    case TCALL_TO_VALUE_: return f->tok;
    case TCALL_TO_PRESENT_:
        return tcall_ev_find_(e, f, f->pc, &next) ? f->tok : TCALL_NEVER_;
    default:
        if (f->cur != TCALL_NEVER_)
            next = tcall_ev_after_(e, f->cur);
        next += member;
        return next < end && --e->steps >= 0 ? next : TCALL_NEVER_;
    }
}

/* What the schema at pc said about cur. */
static void tcall_ev_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, bool r)
{
    if (f->flags & TCALL_F_LAST_)
        op = TCALL_K_ALLOF_;
    if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
        if (r) {
            f->holding = (uint8_t)(f->holding + (f->holding < 2));
            f->by.ask.branch = f->pc;
        } else if (!f->holding && e->progress > 2 * f->tok &&
                   e->progress >= f->by.ask.reached) {
            f->by.ask.branch = e->progress > f->by.ask.reached ? f->pc : 0;
            f->by.ask.reached = e->progress;
        }
    } else if (op == TCALL_K_IF_) {
        f->by.ask.branch =
            tcall_ev_child_(e, f, r ? TCALL_K_THEN_ : TCALL_K_ELSE_);
    } else if (op == TCALL_K_CONTAINS_) {
        f->by.ask.matches += (uint32_t)r;
    } else if (op == TCALL_K_NOT_ && r) {
        tcall_ev_fails_(e, f, f->pc, 0);
    } else if (op != TCALL_K_NOT_ && !r) {
        f->flags |= TCALL_F_BAD_;
    }
}

/* All alternatives have answered. First they are asked strictly; when none
 * holds and coercion is allowed, again to see how many would then; the one that
 * alone would, or that came furthest, runs last and decides. True: go on with
 * that. */
static bool tcall_ev_choose_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    bool retry = f->flags & TCALL_F_RETRY_;
    bool once = f->holding == 1; /* of anyOf no more are asked strictly */
    uint32_t first = tcall_ev_child_(e, f, op);
    if (!f->holding && !(f->flags & (TCALL_F_RETRY_ | TCALL_F_STRICT_))) {
        f->flags |= TCALL_F_RETRY_;
        f->pc = first + 1;
        memset(&f->by, 0, sizeof f->by);
        return true;
    }
    if (once
            ? retry
            : !f->holding && f->by.ask.branch && !(f->flags & TCALL_F_QUIET_)) {
        f->flags |= TCALL_F_LAST_;
        return true;
    }
    if (!once)
        tcall_ev_fails_(e, f, first, f->holding);
    return false;
}

/* contains: whether as many elements match as have to. */
static void tcall_ev_counted_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    uint32_t min = tcall_ev_child_(e, f, TCALL_K_MIN_CONTAINS_);
    uint32_t max = tcall_ev_child_(e, f, TCALL_K_MAX_CONTAINS_);
    uint32_t matches = f->by.ask.matches;
    if (matches < (min ? program[min].arg : 1))
        tcall_ev_fails_(e, f, min ? min : f->pc, matches);
    if (max && matches > program[max].arg)
        tcall_ev_fails_(e, f, max, matches);
}

/* The schema at pc has been applied to all that it is for: to the next. */
static void tcall_ev_done_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    uint32_t next = tcall_node_after_(program, f->pc);
    uint32_t end = tcall_ev_end_(e, f);
    if (!(f->flags & TCALL_F_LAST_)) {
        if (op == TCALL_K_IF_ && f->by.ask.branch) {
            f->flags |= TCALL_F_LAST_;
            return;
        }
        if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
            for (; next < end && tcall_node_op_(&program[next]) == op;
                 next = tcall_node_after_(program, next))
                if (!f->holding || op == TCALL_K_ONEOF_ ||
                    f->flags & TCALL_F_RETRY_) {
                    f->pc = next;
                    return;
                }
            if (tcall_ev_choose_(e, f, op))
                return;
        }
    }
    if (op == TCALL_K_CONTAINS_)
        tcall_ev_counted_(e, f);
    f->pc = next;
    memset(&f->by, 0, sizeof f->by);
    f->holding = 0;
    f->flags &= (uint8_t) ~(TCALL_F_LAST_ | TCALL_F_RETRY_);
}

/* Whether a keyword only asks its schemas: they report no errors. */
static bool tcall_ev_asks_(int op)
{
    return op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_ || op == TCALL_K_IF_ ||
           op == TCALL_K_NOT_ || op == TCALL_K_CONTAINS_;
}

/* Applies the schema at pc, or the deciding branch, to cur. */
static int tcall_ev_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    uint32_t schema = f->pc, tok = f->cur;
    if (f->flags & TCALL_F_LAST_)
        return tcall_ev_enter_(e, f->by.ask.branch, tok, flags);
    if (tcall_ev_asks_(op))
        flags |= TCALL_F_DRY_ |
                 (f->flags & TCALL_F_RETRY_ ? TCALL_F_QUIET_ : TCALL_F_TEST_);
    if (op == TCALL_K_NAMES_) { /* a name stays a string */
        tok--;
        flags |= TCALL_F_STRICT_;
    }
    if (op == TCALL_K_REF_)
        schema = e->program[schema].arg;
    return tcall_ev_enter_(e, schema, tok, flags);
}

/* A keyword that applies schemas to the value or to each name or element. */
static int tcall_ev_keyword_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    if (r < 0) {
        f->cur = tcall_ev_next_(e, f, op);
        if (f->cur != TCALL_NEVER_)
            return tcall_ev_apply_(e, f, op);
    } else {
        tcall_ev_answer_(e, f, op, r);
        if (tcall_keywords_[op].applies == TCALL_TO_EACH_ && !tcall_ev_over_(f))
            return TCALL_PUSHED_; /* to the next */
    }
    tcall_ev_done_(e, f, op);
    return tcall_ev_resume_(e, f);
}

/* -- Members and elements ------------------------------------------------- */

/* Begins with the first one: notes what may be for it. */
static void tcall_ev_begin_(const tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_end_(e, f), extra = 0, i = f->schema + 1;
    f->flags |= TCALL_F_WALKED_;
    f->cur = f->tok + 1 + (f->type == TCALL_OBJECT);
    for (; i < end; i = tcall_node_after_(e->program, i)) {
        int op = tcall_node_op_(&e->program[i]);
        if (tcall_keywords_[op].type != f->type)
            continue;
        switch (op) {
        case TCALL_K_PROPERTIES_:
        case TCALL_K_PREFIX_: f->by.walk.first = i; break;
        case TCALL_K_PATTERNS_: f->by.walk.patterns = i; break;
        case TCALL_K_ADDITIONAL_:
        case TCALL_K_REST_: f->by.walk.others = i; break;
        case TCALL_K_EXTRA_: extra = i; break;
        default: break;
        }
    }
    f->by.walk.next = f->by.walk.first + 1;
    if (f->by.walk.first && !f->by.walk.others)
        f->by.walk.others = extra;
}

/* The schema for the element at cur. */
static uint32_t tcall_ev_element_(const tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t list = f->by.walk.first, prefix = f->by.walk.next;
    if (!list || prefix == tcall_node_after_(e->program, list))
        return f->by.walk.others;
    f->by.walk.next = tcall_node_after_(e->program, prefix);
    return prefix;
}

/* The property that the member at cur is, 0: none. */
static uint32_t tcall_ev_property_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    tcall_text_bytes_ name = tcall_text_bytes_in_(tcall_ev_of_(e, f->cur - 1));
    uint32_t map = f->by.walk.first, property = 0;
    if (map)
        property =
            tcall_node_find_(e->s, map, f->by.walk.next, &name, &e->steps);
    if (property)
        f->by.walk.next = tcall_node_after_(e->program, property);
    return property;
}

/* The next schema for the member at cur: that of the property, then those of
 * the patterns that match, or else the one for all others; 0: no more. */
static uint32_t tcall_ev_member_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    uint32_t at = f->by.walk.at, i = f->by.walk.patterns, end;
    uint32_t property = at ? 0 : tcall_ev_property_(e, f);
    if (property || (at && at == f->by.walk.others))
        return property;
    if (i) {
        end = tcall_node_after_(program, i);
        i = at > i && at < end ? tcall_node_after_(program, at) : i + 1;
        for (; i < end; i = tcall_node_after_(program, i))
            if (tcall_ev_match_(e, i + 1, f->cur - 1))
                return i;
    }
    return at ? 0 : f->by.walk.others;
}

/* Applies a schema to the member or element at cur. A null may count as absent
 * where coercion is allowed and the property is not required. */
static int tcall_ev_child_enter_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *schema = &e->program[f->by.walk.at];
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    f->flags &= (uint8_t)~TCALL_F_ABSENT_;
    if (tcall_node_op_(schema) == TCALL_K_PROPERTIES_) {
        if (schema->arg & TCALL_MARKED_) {
            f->met++;
        } else if (tcall_ev_kind_(e, f->cur) == TCALL_NULL &&
                   !(flags & TCALL_F_STRICT_)) {
            f->flags |= TCALL_F_ABSENT_;
            flags |= TCALL_F_TEST_;
        }
    }
    return tcall_ev_enter_(e, f->by.walk.at, f->cur, flags);
}

static void tcall_ev_next_child_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    f->cur = tcall_ev_after_(e, f->cur) + (f->type == TCALL_OBJECT);
    f->by.walk.at = 0;
}

/* What the schema said about the member or element. Only patterns may have
 * another one for it. */
static void tcall_ev_child_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    if (!r && f->flags & TCALL_F_ABSENT_)
        tcall_ev_mark_(e, f->cur, TCALL_MARK_DROP_, f->flags);
    else if (!r)
        f->flags |= TCALL_F_BAD_;
    if (!f->by.walk.patterns)
        tcall_ev_next_child_(e, f);
}

/* All keywords that are for members or elements, one of these after the other,
 * in the order of the value. r: what the last schema said, or TCALL_PUSHED_. */
static int tcall_ev_walk_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    uint32_t end = tcall_ev_after_(e, f->tok);
    if (r < 0)
        tcall_ev_begin_(e, f);
    else
        tcall_ev_child_answer_(e, f, r);
    while (f->cur < end && !tcall_ev_over_(f) && --e->steps >= 0) {
        f->by.walk.at = f->type == TCALL_OBJECT ? tcall_ev_member_(e, f)
                                                : tcall_ev_element_(e, f);
        if (!f->by.walk.at) {
            tcall_ev_next_child_(e, f);
            continue;
        }
        r = tcall_ev_child_enter_(e, f);
        if (r < 0)
            return r;
        tcall_ev_child_answer_(e, f, r);
    }
    memset(&f->by, 0, sizeof f->by);
    f->pc = tcall_node_after_(e->program, f->pc);
    return tcall_ev_resume_(e, f);
}

/* The machine: until the schema at a node has answered. */
static int tcall_ev_run_(tcall_ev_ *e, uint32_t schema)
{
    int r = tcall_ev_enter_(e, schema, 0,
                            e->check->coerce ? 0 : (unsigned)TCALL_F_STRICT_);
    while (e->depth && !e->error && --e->steps >= 0) {
        tcall_ev_frame_ *f = &e->frame[e->depth - 1];
        int op = tcall_node_op_(&e->program[f->pc]);
        if (tcall_keywords_[op].applies == TCALL_TO_CHILDREN_)
            r = tcall_ev_walk_(e, f, r);
        else
            r = tcall_ev_keyword_(e, f, op, r);
    }
    return r;
}

static void tcall_ev_unmark_(tcall_ev_ *e)
{
    int i;
    for (i = 0; i < e->tok->span; i++)
        e->tok[i].mark = TCALL_MARK_NONE_;
    e->check->coerced = 0;
}

/* Checks a value against the schema at a node. */
TCALL_SHARED_ int tcall_schema_check_at_(const tcall_schema *s, uint32_t node,
                                         tcall_tree_ value, tcall_check *check)
{
    tcall_ev_ e;
    int ok;
    check->error_count = check->coerced = check->need = 0;
    if (!s->nodes)
        return TCALL_E_SCHEMA; /* it was refused, or not compiled */
    if (!value.tok)
        return TCALL_E_USAGE;
    memset(&e, 0, sizeof e);
    e.s = s;
    e.program = s->program;
    e.check = check;
    e.text = value.text;
    /* tokens lie in the caller's memory; only marks are written */
    e.tok = (tcall_tok_ *)(uintptr_t)value.tok;
    e.num_tok = TCALL_NEVER_;
    e.pad = (0 - (size_t)(uintptr_t)check->memory) & 3;
    e.size = check->memory ? check->size : 0;
    e.frame = (tcall_ev_frame_ *)(void *)((char *)check->memory + e.pad);
    e.steps = TOOLCALL_MAX_STEPS;
    tcall_ev_unmark_(&e);
    ok = tcall_ev_run_(&e, node);
    if (!e.error && e.steps < 0)
        e.error = TCALL_E_BUDGET;
    else if (!e.error && !ok)
        e.error = TCALL_E_INVALID;
    if (e.error)
        tcall_ev_unmark_(&e);
    return e.error;
}

int tcall_schema_check(const tcall_schema *s, tcall_tree_ value,
                       tcall_check *check)
{
    return tcall_schema_check_at_(s, 0, value, check);
}

#endif /* TOOLCALL_NO_SCHEMA */
