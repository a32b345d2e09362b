#pragma once
#include "machine.c"
#include "pattern.c"

/* ==========================================================================
 * >>rows: what the keywords of a schema do
 *
 * A group (anyOf, oneOf, not, if, contains, dependentSchemas) is a frame that
 * counts the verdicts of its branches; of what they miss it keeps, in the slots
 * behind it, the one that came furthest.
 */

/* ---- faults ---- */

/* How far the text was read when a fault was met; a wrong type counts less than
 * any other fault of the same value. */
static uint32_t tcall_rows_progress_(const tcall_fault *fault)
{
    return 2 * fault->at + (fault->keyword != TCALL_ON_TYPE_);
}

/* Tells a fault. In a branch only the first one counts: the group keeps that of
 * the branch that came furthest, and notes whether it is alone. */
static void tcall_rows_tell_(tcall_machine *m, uint16_t branch,
                             const tcall_fault *fault)
{
    tcall_frame_ *first, *group;
    tcall_fault *kept;
    uint32_t progress, most;
    if (branch == TCALL_QUIET_)
        return;
    if (!branch) {
        tcall_machine_note_(m, fault);
        return;
    }
    first = &m->slot[branch].frame;
    if (first->flags & TCALL_FRAME_MISSED_)
        return;
    first->flags |= TCALL_FRAME_MISSED_;
    group = &m->slot[first->parent].frame;
    kept = &m->slot[first->parent + (first->role == TCALL_ROLE_ELSE_ ? 2 : 1)]
                .kept;
    progress = tcall_rows_progress_(fault);
    most = kept->keyword ? tcall_rows_progress_(kept) : 0;
    if (kept->keyword && progress == most)
        group->flags |= TCALL_FRAME_TIED_;
    if (kept->keyword && progress <= most)
        return;
    group->flags &= (uint8_t)~TCALL_FRAME_TIED_;
    *kept = *fault;
}

/* A frame fails at the value. Returns false. */
static bool tcall_rows_fails_(tcall_machine *m, const tcall_frame_ *f,
                              uint8_t keyword, const tcall_row *row,
                              size_t count)
{
    tcall_fault fault;
    bool above = row && row == f->by && f->parent != TCALL_NO_FRAME_;
    memset(&fault, 0, sizeof fault);
    fault.role = TCALL_ROLE_KEPT_;
    fault.keyword = keyword;
    fault.count = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
    fault.at = m->token;
    fault.node = above ? m->slot[f->parent].frame.node : f->node;
    fault.row = row;
    tcall_rows_tell_(m, f->branch, &fault);
    return false;
}

/* It fails for its type; a node that admits none for the row that brought it.
 */
static bool tcall_rows_mistyped_(tcall_machine *m, const tcall_frame_ *f)
{
    return tcall_rows_fails_(m, f, TCALL_ON_TYPE_,
                             f->node->types ? NULL : f->by, 0);
}

/* ---- a value begins ---- */

/* Pushes a frame that belongs to the same branch as the frame i. */
static void tcall_rows_push_(tcall_machine *m, const tcall_node *node,
                             const tcall_row *by, uint16_t i)
{
    uint16_t branch = m->slot[i].frame.branch;
    tcall_machine_push_(m, node, by, i)->branch = branch;
}

/* Pushes a group of the frame i, and slots for what its branches miss. */
static uint16_t tcall_rows_group_(tcall_machine *m, uint16_t i,
                                  const tcall_row *row, int slots)
{
    uint16_t group = m->frames;
    tcall_rows_push_(m, m->slot[i].frame.node, row, i);
    m->slot[group].frame.flags = TCALL_FRAME_GROUP_;
    m->slot[group].frame.count = 0;
    for (; slots; slots--) {
        tcall_fault *kept = &m->slot[m->frames].kept;
        tcall_machine_push_(m, m->slot[i].frame.node, row, i);
        kept->role = TCALL_ROLE_KEPT_;
        kept->keyword = TCALL_ON_NOTHING_;
    }
    return group;
}

/* Pushes a branch of a group, which begins one or is quiet. */
static void tcall_rows_branch_(tcall_machine *m, const tcall_node *node,
                               uint16_t group, uint8_t role, bool quiet)
{
    uint16_t branch = quiet ? TCALL_QUIET_ : m->frames;
    tcall_frame_ *f =
        tcall_machine_push_(m, node, m->slot[group].frame.by, group);
    f->role = role;
    f->branch = branch;
}

/* Pushes the group of an if, and then and else, which follow it, as branches of
 * it, too. */
static void tcall_rows_if_(tcall_machine *m, uint16_t i, const tcall_row *row)
{
    uint16_t group = tcall_rows_group_(m, i, row, 2);
    for (; row && row->on <= TCALL_ON_ELSE_; row = tcall_row_next_(row))
        tcall_rows_branch_(m, &row->of.members->node, group,
                           (uint8_t)(TCALL_ROLE_IF_ + row->on - TCALL_ON_IF_),
                           row->on == TCALL_ON_IF_);
}

/* Pushes a group for each name of dependentSchemas: whether the name comes is
 * only known at the end of the object. */
static void tcall_rows_dependent_(tcall_machine *m, uint16_t i,
                                  const tcall_row *row)
{
    uint16_t k, group;
    for (k = 0; k < row->count && tcall_machine_going_(m); k++) {
        group = tcall_rows_group_(m, i, row, 1);
        m->slot[group].frame.came = k;
        tcall_rows_branch_(m, &row->of.members[k].node, group,
                           TCALL_ROLE_COUNT_, false);
    }
}

/* Pushes what one row brings. */
static void tcall_rows_bring_(tcall_machine *m, uint16_t i,
                              const tcall_row *row)
{
    uint16_t group, k;
    switch (row->on) {
    case TCALL_ON_REF_:
    case TCALL_ON_ALLOF_:
        for (k = 0; k < row->count; k++)
            tcall_rows_push_(m, &row->of.members[k].node, row, i);
        break;
    case TCALL_ON_ANYOF_:
    case TCALL_ON_ONEOF_:
        group = tcall_rows_group_(m, i, row, 1);
        for (k = 0; k < row->count; k++)
            tcall_rows_branch_(m, &row->of.members[k].node, group,
                               TCALL_ROLE_COUNT_, false);
        break;
    case TCALL_ON_NOT_:
        group = tcall_rows_group_(m, i, row, 0);
        tcall_rows_branch_(m, &row->of.members->node, group, TCALL_ROLE_COUNT_,
                           true);
        break;
    case TCALL_ON_IF_: tcall_rows_if_(m, i, row); break;
    case TCALL_ON_CONTAINS_:
        if (m->types == TCALL_SHAPE_ARRAY)
            tcall_rows_group_(m, i, row, 0);
        break;
    case TCALL_ON_DEPENDENT_:
        if (m->types == TCALL_SHAPE_OBJECT)
            tcall_rows_dependent_(m, i, row);
        break;
    default: break; /* then, else */
    }
}

/* Whether a slot is a frame with a node of its own. */
static bool tcall_rows_counts_(const tcall_frame_ *f)
{
    return f->role < TCALL_ROLE_KEPT_ && !(f->flags & TCALL_FRAME_GROUP_);
}

/* Pushes what the rows of the run bring for the same value, and what the rows
 * of those bring. */
static void tcall_rows_expand_(tcall_machine *m)
{
    uint16_t i;
    for (i = m->first; i < m->frames && tcall_machine_going_(m); i++) {
        const tcall_row *row;
        if (!tcall_rows_counts_(&m->slot[i].frame))
            continue;
        for (row = m->slot[i].frame.node->rows;
             row && row->on <= TCALL_ON_DEPENDENT_; row = tcall_row_next_(row))
            tcall_rows_bring_(m, i, row);
    }
    m->brings = false;
}

static bool tcall_rows_matches_(tcall_machine *m, const tcall_match *match,
                                const char *quote);

/* Pushes those for a member that its name matches. Returns whether any. */
static bool tcall_rows_patterns_(tcall_machine *m, uint16_t i,
                                 const tcall_row *row)
{
    const tcall_match *match = tcall_row_match_(row);
    bool hit = false;
    uint16_t k;
    for (k = 0; k < row->count; k++)
        if (tcall_rows_matches_(m, &match[k], m->text + m->key)) {
            tcall_rows_push_(m, &row->of.members[k].node, row, i);
            hit = true;
        }
    return hit;
}

/* The members of a frame's node that are for the member at hand. */
static void tcall_rows_enter_member_(tcall_machine *m, uint16_t i)
{
    const tcall_row *row = m->slot[i].frame.node->rows;
    uint16_t count = m->slot[i].frame.count;
    bool hit = false;
    for (; row && row->on <= TCALL_ON_OTHERS_; row = tcall_row_next_(row)) {
        if (row->on == TCALL_ON_PROPERTIES_ && count != TCALL_NO_MEMBER_) {
            tcall_rows_push_(m, &row->of.members[count].node, row, i);
            hit = true;
        } else if (row->on == TCALL_ON_PATTERNS_) {
            hit |= tcall_rows_patterns_(m, i, row);
        } else if (row->on == TCALL_ON_OTHERS_ && !hit) {
            tcall_rows_push_(m, &row->of.members->node, row, i);
        }
    }
}

/* Pushes what the rows of a frame around have for the item that begins. */
static void tcall_rows_enter_item_(tcall_machine *m, uint16_t i)
{
    const tcall_row *row = m->slot[i].frame.node->rows;
    uint32_t index = m->open->count - 1, prefix = 0;
    for (; row && row->on <= TCALL_ON_ITEMS_; row = tcall_row_next_(row)) {
        if (row->on == TCALL_ON_PREFIX_) {
            prefix = row->count;
            if (index < prefix)
                tcall_rows_push_(m, &row->of.members[index].node, row, i);
        } else if (row->on == TCALL_ON_ITEMS_ && index >= prefix) {
            tcall_rows_push_(m, &row->of.members->node, row, i);
        }
    }
}

/* A value begins: each frame around it pushes what it has for the value. */
static void tcall_rows_enter_(tcall_machine *m)
{
    uint16_t i;
    for (i = m->open->first; i < m->open->last; i++) {
        const tcall_frame_ *f = &m->slot[i].frame;
        if (f->role >= TCALL_ROLE_KEPT_ || f->flags & TCALL_FRAME_DEAD_)
            continue;
        if (f->flags & TCALL_FRAME_GROUP_) {
            if (f->by->on == TCALL_ON_CONTAINS_ && !m->syntax.object)
                tcall_rows_branch_(m, &f->by->of.members->node, i,
                                   TCALL_ROLE_COUNT_, true);
        } else if (m->syntax.object) {
            tcall_rows_enter_member_(m, i);
        } else {
            tcall_rows_enter_item_(m, i);
        }
    }
}

/* An object or array opens: a frame of another type is dead at once, so that
 * nothing within it is told. */
static void tcall_rows_opens_(tcall_machine *m)
{
    uint16_t i;
    for (i = m->first; i < m->frames; i++) {
        tcall_frame_ *f = &m->slot[i].frame;
        if (!tcall_rows_counts_(f) || f->node->types & m->types)
            continue;
        tcall_rows_mistyped_(m, f);
        f->flags |= TCALL_FRAME_DEAD_;
    }
}

/* ---- names ---- */

enum { TCALL_KNOWN_ = 1, TCALL_TWICE_ = 2 };

/* Notes which member of the frame i the name is. Returns a set: it is known
 * that it came once, or twice. */
static uint8_t tcall_rows_note_(tcall_machine *m, uint16_t i)
{
    tcall_frame_ *f = &m->slot[i].frame;
    const tcall_row *row = f->node->rows;
    uint16_t next = (uint16_t)(f->count + 1);
    uint8_t came = 0;
    f->count = TCALL_NO_MEMBER_;
    while (row && row->on < TCALL_ON_PROPERTIES_)
        row = tcall_row_next_(row);
    if (row && row->on == TCALL_ON_PROPERTIES_)
        f->count =
            tcall_member_of_(row, next, m->text + m->token, m->len - m->token);
    if (f->count != TCALL_NO_MEMBER_) {
        const tcall_node *node = &row->of.members[f->count].node;
        uint32_t bit = f->count < 32 ? (uint32_t)1 << f->count : 0;
        came = !bit ? 0 : f->came & bit ? TCALL_TWICE_ : TCALL_KNOWN_;
        f->came |= bit;
        f->met += node->flags & TCALL_NODE_MUST_;
        if (f->node->flags & TCALL_NODE_FIELDS_) {
            m->sole = node;
            return came;
        }
    }
    while (row && row->on < TCALL_ON_NAMES_)
        row = tcall_row_next_(row);
    if (row && row->on == TCALL_ON_NAMES_)
        tcall_rows_push_(m, &row->of.members->node, row, i);
    return came;
}

static void tcall_rows_ends_(tcall_machine *m, uint8_t types);

/* A name is complete: each frame of the object looks for it among its
 * properties. Returns whether one knows it. */
static bool tcall_rows_name_(tcall_machine *m)
{
    uint8_t came = 0;
    uint16_t i;
    m->types = TCALL_SHAPE_STRING;
    for (i = m->open->first; i < m->open->last; i++) {
        const tcall_frame_ *f = &m->slot[i].frame;
        if (tcall_rows_counts_(f) && !(f->flags & TCALL_FRAME_DEAD_))
            came |= tcall_rows_note_(m, i);
    }
    if (m->open->last - m->open->first != 1)
        m->sole = NULL;
    if (m->frames > m->first) {
        tcall_rows_expand_(m);
        tcall_rows_ends_(m, TCALL_SHAPE_STRING);
        m->frames = m->first;
    }
    if (came & TCALL_TWICE_)
        tcall_machine_stop_(m, TCALL_E_DUPLICATE);
    return came != 0;
}

/* Takes what it costs to read a text off the budget. */
static void tcall_rows_reads_(tcall_machine *m, const char *from,
                              const char *to)
{
    tcall_machine_costs_(m, 1 + (size_t)(to - from) / 16);
}

/* Returns the name of the object that is complete, from a key or its beginning
 * on, or NULL. */
static const char *tcall_rows_find_(tcall_machine *m, const char *from,
                                    const char *name)
{
    const char *key = *from == '{' ? tcall_text_first_(from) : from;
    if (!tcall_machine_going_(m))
        return NULL;
    key = tcall_text_find_(key, name);
    tcall_rows_reads_(m, from, key ? key : m->text + m->len);
    return key;
}

/* Whether the object that is complete has a member. *last: the one that was
 * found last, or NULL: names tend to come in order. */
static bool tcall_rows_has_(tcall_machine *m, const char *name,
                            const char **last)
{
    const char *key = *last ? tcall_rows_find_(m, *last, name) : NULL;
    if (!key)
        key = tcall_rows_find_(m, m->text + m->token, name);
    *last = key ? key : *last;
    return key != NULL;
}

/* ---- a value ends ---- */

/* Whether two values are equal. What is open of them lies in the rest of the
 * arena. */
static bool tcall_rows_equal_(tcall_machine *m, const char *a, const char *b)
{
    size_t size;
    const char **open = (const char **)tcall_machine_rest_(m, &size);
    bool same =
        tcall_text_deep_equal_(a, b, open, size / sizeof *open, &m->steps);
    tcall_machine_costs_(m, 0);
    return same;
}

#ifndef TOOLCALL_NO_PATTERN

/* Searches the string at a quote, piece by piece where it has escapes. */
static bool tcall_rows_matches_(tcall_machine *m, const tcall_match *match,
                                const char *quote)
{
    tcall_str inner = tcall_text_inner_(quote);
    const char *at = inner.ptr, *end = at + inner.len, *to;
    tcall_pattern pattern;
    tcall_search search;
    size_t size;
    bool found;
    memset(&pattern, 0, sizeof pattern);
    memset(&search, 0, sizeof search);
    pattern.program = (const tcall_node_ *)match->program;
    pattern.count = match->count;
    pattern.states = match->states;
    search.memory = tcall_machine_rest_(m, &size);
    tcall_machine_took_(m, tcall_pattern_memory(&pattern));
    if (size < tcall_pattern_memory(&pattern))
        tcall_machine_stop_(m, TCALL_E_MEMORY);
    tcall_machine_costs_(m, (inner.len + 1) * (1 + match->states / 16));
    if (!tcall_machine_going_(m))
        return false;
    do {
        char bytes[4];
        tcall_str piece;
        for (to = at; to < end && *to != '\\'; to++)
            continue;
        piece = tcall_slice_(at, (size_t)(to - at));
        if (to > at || to == end)
            at = to;
        else
            piece = tcall_slice_(bytes, tcall_text_char_(&at, bytes));
        found = tcall_pattern_find(&pattern, &search, piece, at == end) != NULL;
    } while (!found && at < end);
    return found;
}

#else

/* A schema with a pattern was refused. */
static bool tcall_rows_matches_(tcall_machine *m, const tcall_match *match,
                                const char *string)
{
    (void)m;
    (void)match;
    (void)string;
    return false;
}

#endif /* TOOLCALL_NO_PATTERN */

/* Whether all required names came: mostly all are properties, of which is
 * counted how many came. */
static bool tcall_rows_required_(tcall_machine *m, const tcall_frame_ *f,
                                 const tcall_row *row)
{
    const char *name = tcall_text_first_(row->of.text), *last = NULL;
    bool ok = true;
    uint16_t i;
    if (row->flags & TCALL_ROW_MUSTS_ && f->met == row->count)
        return true;
    for (i = 0; name && tcall_machine_going_(m); i++) {
        if (!tcall_rows_has_(m, name, &last))
            ok = tcall_rows_fails_(m, f, TCALL_ON_REQUIRED_, row, i);
        name = tcall_text_after_(tcall_text_skip_(name));
    }
    return ok;
}

/* Whether the names came that others of the object need. */
static bool tcall_rows_needed_(tcall_machine *m, const tcall_frame_ *f,
                               const tcall_row *row)
{
    const char *key = tcall_text_first_(row->of.text), *list, *name;
    const char *last = NULL;
    bool ok = true;
    for (; key && tcall_machine_going_(m);
         key = tcall_text_after_(tcall_text_skip_(list))) {
        list = tcall_text_value_(key);
        if (*list != '[' || !tcall_rows_has_(m, key, &last))
            continue;
        for (name = tcall_text_first_(list); name && tcall_machine_going_(m);
             name = tcall_text_after_(tcall_text_skip_(name)))
            if (!tcall_rows_has_(m, name, &last))
                ok = tcall_rows_fails_(m, f, TCALL_ON_NEEDED_, row,
                                       (size_t)(name - row->of.text));
    }
    return ok;
}

/* Whether a number is a multiple of another. */
static bool tcall_rows_multiple_(const tcall_num_ *num, const tcall_num_ *bound)
{
    const char *p = num->first, *d = bound->first;
    int digits = tcall_num_digits_(bound), i;
    int left = num->top - bound->top + digits;
    uint32_t by = 0, rest = 0;
    for (i = 0; i < digits; i++)
        by = by * 10 + (uint32_t)tcall_num_digit_(bound, &d);
    if (!num->sign || left < tcall_num_digits_(num))
        return !num->sign;
    for (; left > 0; left--)
        rest = (rest * 10 + (uint32_t)tcall_num_digit_(num, &p)) % by;
    return rest == 0;
}

/* Whether the number at hand keeps a bound. */
static bool tcall_rows_bound_(tcall_machine *m, const tcall_row *row)
{
    int order, limit = (int16_t)row->count;
    if (m->known && row->flags & TCALL_ROW_SMALL_ &&
        row->on != TCALL_ON_MULTIPLE_) {
        order = (m->whole > limit) - (m->whole < limit);
    } else {
        tcall_num_ bound = tcall_text_number_(row->of.text);
        tcall_num_ num = tcall_num_read_(tcall_machine_hand_(m));
        if (row->on == TCALL_ON_MULTIPLE_)
            return tcall_rows_multiple_(&num, &bound);
        order = tcall_num_compare_(&num, &bound);
    }
    switch (row->on) {
    case TCALL_ON_MINIMUM_: return order >= 0;
    case TCALL_ON_MAXIMUM_: return order <= 0;
    case TCALL_ON_ABOVE_: return order > 0;
    default: return order < 0;
    }
}

/* Whether the string at hand is one in the schema, up to an end. Mostly both
 * have one spelling. */
static bool tcall_rows_is_(const tcall_machine *m, const char *p,
                           const char *end)
{
    size_t len = (size_t)(end - p);
    if (*p != '"')
        return false;
    if (len == m->len - m->token && memcmp(p, m->text + m->token, len) == 0)
        return true;
    return memchr(p, '\\', len) && tcall_text_equal_(p, m->text + m->token);
}

/* Whether the value at hand is one of an enum. */
static bool tcall_rows_enum_(tcall_machine *m, const tcall_row *row,
                             uint8_t types)
{
    const char *p = tcall_text_first_(row->of.text), *end = p;
    bool same = false;
    while (p && !same) {
        end = tcall_text_skip_(p);
        same = types == TCALL_SHAPE_STRING
                   ? tcall_rows_is_(m, p, end)
                   : tcall_rows_equal_(m, m->text + m->token, p);
        p = tcall_text_after_(end);
    }
    tcall_rows_reads_(m, row->of.text, end ? end : row->of.text);
    return same;
}

/* Returns which item is the second of two that are equal, or 0. */
static size_t tcall_rows_repeated_(tcall_machine *m)
{
    const char *item =
        tcall_machine_twice_(m, tcall_text_deep_hash_, tcall_rows_equal_);
    const char *at = item ? tcall_text_first_(m->text + m->token) : NULL;
    size_t index = 0;
    for (; at != item; index++)
        at = tcall_text_after_(tcall_text_skip_(at));
    return index;
}

/* The types that a keyword from enum on says something about. */
static const uint8_t tcall_rows_about_[] = {TCALL_SHAPE_ANY,
                                            TCALL_SHAPE_ANY,
                                            TCALL_SHAPE_STRING,
                                            TCALL_SHAPE_NUMBER,
                                            TCALL_SHAPE_NUMBER,
                                            TCALL_SHAPE_NUMBER,
                                            TCALL_SHAPE_NUMBER,
                                            TCALL_SHAPE_NUMBER,
                                            TCALL_SHAPE_STRING,
                                            TCALL_SHAPE_STRING,
                                            TCALL_SHAPE_ARRAY,
                                            TCALL_SHAPE_ARRAY,
                                            TCALL_SHAPE_OBJECT,
                                            TCALL_SHAPE_OBJECT,
                                            0, /* of contains */
                                            0,
                                            TCALL_SHAPE_ARRAY,
                                            TCALL_SHAPE_OBJECT,
                                            TCALL_SHAPE_OBJECT};

/* What one row says of a value of these types, so long. */
static bool tcall_rows_row_holds_(tcall_machine *m, const tcall_frame_ *f,
                                  const tcall_row *row, uint8_t types,
                                  size_t count)
{
    const char *value = m->text + m->token;
    bool ok = true;
    switch (row->on) {
    case TCALL_ON_ENUM_: ok = tcall_rows_enum_(m, row, types); break;
    case TCALL_ON_CONST_: ok = tcall_rows_equal_(m, value, row->of.text); break;
    case TCALL_ON_PATTERN_:
        ok = tcall_rows_matches_(m, row->of.match, value);
        break;
    case TCALL_ON_MIN_LENGTH_:
    case TCALL_ON_MIN_ITEMS_:
    case TCALL_ON_MIN_PROPERTIES_: ok = count >= row->of.number; break;
    case TCALL_ON_MAX_LENGTH_:
    case TCALL_ON_MAX_ITEMS_:
    case TCALL_ON_MAX_PROPERTIES_: ok = count <= row->of.number; break;
    case TCALL_ON_UNIQUE_:
        count = m->open->count > 1 ? tcall_rows_repeated_(m) : 0;
        ok = !count;
        break;
    case TCALL_ON_REQUIRED_: return tcall_rows_required_(m, f, row);
    case TCALL_ON_NEEDED_: return tcall_rows_needed_(m, f, row);
    default: ok = tcall_rows_bound_(m, row);
    }
    return ok || tcall_rows_fails_(m, f, row->on, row, count);
}

/* What a frame's own node says. */
static bool tcall_rows_holds_(tcall_machine *m, const tcall_frame_ *f,
                              uint8_t types)
{
    const tcall_row *row = f->node->rows;
    bool ok = !(f->flags & TCALL_FRAME_BAD_);
    size_t count = 0; /* characters, items or members */
    if (f->flags & TCALL_FRAME_DEAD_)
        return false;
    if (!(f->node->types & types))
        return tcall_rows_mistyped_(m, f);
    if (types == TCALL_SHAPE_STRING)
        count = m->fit.length - m->syntax.followed;
    else if (types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT))
        count = m->open->count;
    for (; row && tcall_machine_going_(m); row = tcall_row_next_(row))
        if (row->on >= TCALL_ON_ENUM_ &&
            tcall_rows_about_[row->on - TCALL_ON_ENUM_] & types &&
            !tcall_rows_row_holds_(m, f, row, types, count))
            ok = false;
    return ok;
}

/* Tells the misfit that a group keeps. Returns false. */
static bool tcall_rows_tell_kept_(tcall_machine *m, uint16_t group, int which)
{
    tcall_rows_tell_(m, m->slot[group].frame.branch,
                     &m->slot[group + which].kept);
    return false;
}

/* then or else, whichever counts. */
static bool tcall_rows_if_holds_(tcall_machine *m, uint16_t i)
{
    const tcall_frame_ *f = &m->slot[i].frame;
    int which = f->count & 1 ? 1 : 2;
    return !tcall_row_of_(f->node, (uint8_t)(TCALL_ON_IF_ + which)) ||
           f->count >> which & 1 || tcall_rows_tell_kept_(m, i, which);
}

/* Whether as many items fit as contains asks for. */
static bool tcall_rows_contains_(tcall_machine *m, const tcall_frame_ *f)
{
    const tcall_row *row = tcall_row_of_(f->node, TCALL_ON_MIN_CONTAINS_);
    if (f->count < (row ? row->of.number : 1))
        return tcall_rows_fails_(
            m, f, row ? TCALL_ON_MIN_CONTAINS_ : TCALL_ON_CONTAINS_,
            row ? row : f->by, f->count);
    row = tcall_row_of_(f->node, TCALL_ON_MAX_CONTAINS_);
    return !row || f->count <= row->of.number ||
           tcall_rows_fails_(m, f, TCALL_ON_MAX_CONTAINS_, row, f->count);
}

/* What a group makes of the verdicts of its branches. */
static bool tcall_rows_group_holds_(tcall_machine *m, uint16_t i)
{
    const tcall_frame_ *f = &m->slot[i].frame;
    const tcall_fault *kept = &m->slot[i + 1].kept;
    const char *last = NULL;
    switch (f->by->on) {
    case TCALL_ON_IF_: return tcall_rows_if_holds_(m, i);
    case TCALL_ON_NOT_:
        return !f->count || tcall_rows_fails_(m, f, TCALL_ON_NOT_, f->by, 0);
    case TCALL_ON_CONTAINS_: return tcall_rows_contains_(m, f);
    case TCALL_ON_DEPENDENT_:
        return f->count ||
               !tcall_rows_has_(m, f->by->of.members[f->came].name, &last) ||
               tcall_rows_tell_kept_(m, i, 1);
    default:
        if (f->by->on == TCALL_ON_ANYOF_ ? f->count : f->count == 1)
            return true;
        if (!f->count && kept->keyword && !(f->flags & TCALL_FRAME_TIED_) &&
            tcall_rows_progress_(kept) > 2 * m->token)
            return tcall_rows_tell_kept_(m, i, 1);
        return tcall_rows_fails_(m, f, f->by->on, f->by, f->count);
    }
}

/* Tells a frame's verdict to its parent. */
static void tcall_rows_answer_(tcall_machine *m, const tcall_frame_ *f, bool ok)
{
    tcall_frame_ *parent;
    if (f->parent == TCALL_NO_FRAME_) {
        m->failed = m->failed || !ok;
        return;
    }
    parent = &m->slot[f->parent].frame;
    if (f->role == TCALL_ROLE_COUNT_)
        parent->count =
            (uint16_t)(parent->count + (ok && parent->count < UINT16_MAX));
    else if (f->role != TCALL_ROLE_AND_)
        parent->count =
            (uint16_t)(parent->count | ok << (f->role - TCALL_ROLE_IF_));
    else if (!ok)
        parent->flags |= TCALL_FRAME_BAD_;
}

/* The frames of the run answer, the last first. */
static void tcall_rows_ends_(tcall_machine *m, uint8_t types)
{
    uint16_t i = m->frames;
    while (i-- > m->first && tcall_machine_going_(m)) {
        const tcall_frame_ *f = &m->slot[i].frame;
        bool ok;
        if (f->role >= TCALL_ROLE_KEPT_)
            continue;
        ok = f->flags & TCALL_FRAME_GROUP_ ? tcall_rows_group_holds_(m, i)
                                           : tcall_rows_holds_(m, f, types);
        if (!ok || f->role != TCALL_ROLE_AND_) /* mostly nothing to tell */
            tcall_rows_answer_(m, f, ok);
    }
}

/* ---- coercion ---- */

/* Returns the types of the values of enum or const that the string at hand may
 * mean. */
static uint8_t tcall_rows_types_in_(tcall_machine *m, const tcall_row *row)
{
    const char *p = row->of.text;
    uint8_t types = 0;
    tcall_rows_reads_(m, p, tcall_text_skip_(p));
    for (p = row->on == TCALL_ON_ENUM_ ? tcall_text_first_(p) : p; p;
         p = row->on == TCALL_ON_ENUM_ ? tcall_text_after_(tcall_text_skip_(p))
                                       : NULL)
        if (*p != '"' || (m->text[m->token] == '"' &&
                          tcall_text_equal_(p, m->text + m->token)))
            types |= tcall_types_from_(*p);
    return types;
}

/* Returns the types that a frame's own node admits; a group begins with none
 * or all. */
static uint8_t tcall_rows_admits_(tcall_machine *m, const tcall_frame_ *f)
{
    const tcall_row *row = f->node->rows;
    uint8_t types = f->node->types;
    if (f->flags & TCALL_FRAME_GROUP_)
        return f->by->on <= TCALL_ON_ONEOF_ ? 0 : TCALL_SHAPE_ANY;
    if (types & TCALL_SHAPE_NUMBER)
        types |= TCALL_SHAPE_INTEGER;
    for (; row; row = tcall_row_next_(row))
        if (row->on == TCALL_ON_CONST_ || row->on == TCALL_ON_ENUM_)
            types &= tcall_rows_types_in_(m, row);
    return types;
}

/* Frames tell their parents what they admit as they tell their verdicts: an
 * alternative adds to it, all else takes from it. What is certain counts; where
 * nothing is, what branches of the objects around want. Until the value ends
 * came is free for it. */
static uint8_t tcall_rows_admitted_(tcall_machine *m)
{
    uint8_t all = TCALL_SHAPE_ANY, some = 0;
    bool certain = false;
    uint16_t i;
    for (i = m->first; i < m->frames; i++)
        if (m->slot[i].frame.role < TCALL_ROLE_KEPT_)
            m->slot[i].frame.came = tcall_rows_admits_(m, &m->slot[i].frame);
    for (i = m->frames; i-- > m->first;) {
        tcall_frame_ *f = &m->slot[i].frame, *p;
        uint8_t types = (uint8_t)f->came;
        if (f->role >= TCALL_ROLE_KEPT_)
            continue;
        f->came = 0;
        if (f->parent == TCALL_NO_FRAME_ || f->parent < m->first) {
            certain = certain || !f->branch;
            if (!f->branch)
                all &= types;
            else if (f->branch != TCALL_QUIET_)
                some |= types;
            continue;
        }
        p = &m->slot[f->parent].frame;
        if (f->role == TCALL_ROLE_AND_)
            p->came &= types;
        else if (f->role == TCALL_ROLE_COUNT_ && p->by->on <= TCALL_ON_ONEOF_)
            p->came |= types;
    }
    return certain ? all : some;
}

/* Whether a frame around requires the member at hand. */
static bool tcall_rows_requires_(tcall_machine *m, const tcall_frame_ *f)
{
    const tcall_row *row = tcall_row_of_(f->node, TCALL_ON_REQUIRED_);
    const char *name = row ? tcall_text_first_(row->of.text) : NULL;
    if (name)
        tcall_rows_reads_(m, row->of.text, tcall_text_skip_(row->of.text));
    while (name && !tcall_text_equal_(name, m->text + m->key))
        name = tcall_text_after_(tcall_text_skip_(name));
    return name != NULL;
}

/* As if the member at hand had not come. */
static void tcall_rows_forget_(tcall_frame_ *f)
{
    const tcall_row *list = tcall_row_of_(f->node, TCALL_ON_PROPERTIES_);
    if (f->count == TCALL_NO_MEMBER_)
        return;
    if (f->count < 32)
        f->came &= ~((uint32_t)1 << f->count);
    f->met -= (list->of.members[f->count].node.flags & TCALL_NODE_MUST_) != 0;
}

/* The member at hand may be absent where it is a property that no frame
 * requires. What is certain counts; where nothing knows it, branches. */
static const char *tcall_rows_drop_(tcall_machine *m)
{
    const char *name = NULL;
    uint8_t declared = 0, required = 0; /* 1: by a branch, 2: for certain */
    uint16_t i;
    for (i = m->open->first; i < m->open->last; i++) {
        const tcall_frame_ *f = &m->slot[i].frame;
        const tcall_row *list;
        uint8_t by = f->branch ? 1 : 2;
        if (!tcall_rows_counts_(f) || f->flags & TCALL_FRAME_DEAD_)
            continue;
        list = tcall_row_of_(f->node, TCALL_ON_PROPERTIES_);
        if (list && f->count != TCALL_NO_MEMBER_) {
            declared |= by;
            name = list->of.members[f->count].name;
        }
        if (tcall_rows_requires_(m, f))
            required |= by;
    }
    if (declared & 2 ? required & 2 : !declared || required)
        return NULL;
    for (i = m->open->first; i < m->open->last; i++)
        if (tcall_rows_counts_(&m->slot[i].frame))
            tcall_rows_forget_(&m->slot[i].frame);
    return name;
}

TCALL_DATA_ const tcall_rows tcall_schema_rows = {
    tcall_rows_enter_, tcall_rows_expand_, tcall_rows_opens_,
    tcall_rows_name_,  tcall_rows_ends_,   tcall_rows_admitted_,
    tcall_rows_drop_};
