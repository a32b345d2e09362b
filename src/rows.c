#pragma once
#include "machine.c"
#include "pattern.c"

/* ==========================================================================
 * >>rows: what the keywords of a schema do
 *
 * For each open value the machine keeps a run of frames, one for each node that
 * is at work on it. A value begins: the frames around it push one for each node
 * that is for it, these push those that their rows bring. It ends: each
 * answers, the last first, and tells its parent.
 *
 * A group (anyOf, oneOf, not, if, contains, dependentSchemas) is a frame that
 * counts the verdicts of its branches; of what they miss it keeps, in the slots
 * behind it, the one that came furthest.
 */

/* ---- faults ---- */

/* How far the text was read when a fault was met, 0: there is none; a wrong
 * type counts less than any other fault of the same value. */
static uint32_t tcall_rows_progress_(const tcall_fault *fault)
{
    return fault->keyword
               ? 2 * fault->at + 1 + (fault->keyword != TCALL_ON_TYPE_)
               : 0;
}

/* Tells a fault. In a branch only the first one counts: the group keeps that of
 * the branch that came furthest, and notes whether it is alone. */
static void tcall_rows_tell_(tcall_machine *m, size_t branch,
                             const tcall_fault *fault)
{
    tcall_frame_ *first;
    tcall_fault *kept;
    uint32_t progress, most;
    if (!branch)
        tcall_machine_note_(m, fault);
    if (!branch || branch == TCALL_QUIET_)
        return;
    first = &m->slot[branch].frame;
    if (first->flags & TCALL_FRAME_MISSED_)
        return;
    first->flags |= TCALL_FRAME_MISSED_;
    kept = &m->slot[first->parent + (first->role == TCALL_ROLE_ELSE_ ? 2 : 1)]
                .kept;
    progress = tcall_rows_progress_(fault);
    most = tcall_rows_progress_(kept);
    if (progress > most)
        *kept = *fault;
    else if (progress == most)
        kept->role = TCALL_ROLE_TIED_;
}

/* A frame fails at the value. Returns false. */
static bool tcall_rows_fails_(tcall_machine *m, const tcall_frame_ *f,
                              uint8_t keyword, const tcall_row *row,
                              size_t count)
{
    bool above = row && row == f->by && f->parent != TCALL_NO_FRAME_;
    tcall_fault fault = {TCALL_ROLE_KEPT_,
                         keyword,
                         (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX),
                         m->token,
                         above ? m->slot[f->parent].frame.node : f->node,
                         row,
                         NULL};
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

/* Pushes a frame that belongs to a branch, 0: none. Where the arena is full it
 * is one that counts for nothing. */
static tcall_frame_ *tcall_rows_frame_(tcall_machine *m, const tcall_node *node,
                                       const tcall_row *by, size_t parent,
                                       size_t branch)
{
    tcall_frame_ frame = {
        TCALL_ROLE_AND_, 0, (uint16_t)parent, 0, node, by, (uint16_t)branch,
        TCALL_NO_FRAME_, 0};
    tcall_slot_ *slot = &m->slot[m->frames];
    if (m->frames == TCALL_NO_FRAME_ - 1)
        tcall_machine_stop_(m, TCALL_E_MEMORY);
    else if (tcall_machine_takes_(m, sizeof *slot))
        m->frames++;
    slot->frame = frame;
    if (node->rows && node->rows->on <= TCALL_ON_DEPENDENT_)
        m->brings = true;
    return &slot->frame;
}

/* Pushes one that belongs to the same branch as the frame i. */
static tcall_frame_ *tcall_rows_push_(tcall_machine *m, const tcall_node *node,
                                      const tcall_row *by, size_t i)
{
    return tcall_rows_frame_(m, node, by, i, m->slot[i].frame.branch);
}

/* Pushes a group of the frame i, and slots for what its branches miss. */
static size_t tcall_rows_group_(tcall_machine *m, size_t i,
                                const tcall_row *row, int slots)
{
    const tcall_node *node = m->slot[i].frame.node;
    size_t group = m->frames;
    tcall_frame_ *f = tcall_rows_push_(m, node, row, i);
    f->flags = TCALL_FRAME_GROUP_;
    f->count = 0;
    for (; slots; slots--) /* its keyword is NOTHING */
        tcall_rows_push_(m, node, row, i)->role = TCALL_ROLE_KEPT_;
    return group;
}

/* Pushes a branch of a group, which begins one or is quiet. */
static void tcall_rows_branch_(tcall_machine *m, const tcall_node *node,
                               size_t group, uint8_t role, bool quiet)
{
    tcall_rows_frame_(m, node, m->slot[group].frame.by, group,
                      quiet ? TCALL_QUIET_ : m->frames)
        ->role = role;
}

/* Pushes the group of an if, and then and else, which follow it, as branches of
 * it, too. */
static void tcall_rows_if_(tcall_machine *m, size_t i, const tcall_row *row)
{
    size_t group = tcall_rows_group_(m, i, row, 2);
    for (; row && row->on <= TCALL_ON_ELSE_; row = tcall_row_next_(row))
        tcall_rows_branch_(
            m, &row->of.members->node, group,
            (uint8_t)(TCALL_ROLE_COUNT_ + row->on - TCALL_ON_IF_),
            row->on == TCALL_ON_IF_);
}

/* Pushes what one row of the frame i brings. Whether the name of a dependent
 * schema comes is only known at the end of the object: each is a group. */
static void tcall_rows_bring_(tcall_machine *m, size_t i, const tcall_row *row)
{
    uint8_t on = row->on;
    size_t group = 0, k;
    if (on == TCALL_ON_IF_)
        tcall_rows_if_(m, i, row);
    if (on == TCALL_ON_CONTAINS_ && m->types == TCALL_SHAPE_ARRAY)
        tcall_rows_group_(m, i, row, 0);
    if ((on >= TCALL_ON_IF_ && on <= TCALL_ON_CONTAINS_) ||
        (on == TCALL_ON_DEPENDENT_ && m->types != TCALL_SHAPE_OBJECT))
        return;
    for (k = 0; k < row->count && tcall_machine_going_(m); k++) {
        const tcall_node *node = &row->of.members[k].node;
        if (on <= TCALL_ON_REF_) {
            tcall_rows_push_(m, node, row, i);
            continue;
        }
        if (!k || on == TCALL_ON_DEPENDENT_)
            group = tcall_rows_group_(m, i, row, on != TCALL_ON_NOT_);
        if (on == TCALL_ON_DEPENDENT_)
            m->slot[group].frame.came = (uint32_t)k;
        tcall_rows_branch_(m, node, group, TCALL_ROLE_COUNT_,
                           on == TCALL_ON_NOT_);
    }
}

/* Whether a slot is a frame with a node of its own, to which the value means
 * something. */
static bool tcall_rows_counts_(const tcall_frame_ *f)
{
    return f->role < TCALL_ROLE_KEPT_ &&
           !(f->flags & (TCALL_FRAME_GROUP_ | TCALL_FRAME_DEAD_));
}

/* Pushes what the rows of the run bring for the same value, and what the rows
 * of those bring. Where an object or array opens, a frame of another type is
 * dead at once, so that nothing within it is told. */
static void tcall_rows_expand_(tcall_machine *m)
{
    bool opens = tcall_machine_is_container_(m->types);
    size_t i;
    for (i = m->first; i < m->frames && tcall_machine_going_(m); i++) {
        tcall_frame_ *f = &m->slot[i].frame;
        const tcall_row *row = f->node->rows;
        if (!tcall_rows_counts_(f))
            continue;
        for (; row && row->on <= TCALL_ON_DEPENDENT_;
             row = tcall_row_next_(row))
            tcall_rows_bring_(m, i, row);
        if (opens && !(f->node->types & m->types)) {
            tcall_rows_mistyped_(m, f);
            f->flags |= TCALL_FRAME_DEAD_;
        }
    }
    m->brings = false;
}

static bool tcall_rows_matches_(tcall_machine *m, const tcall_match *match,
                                const char *quote);

/* Pushes those of the members of a row whose pattern matches the name of the
 * member at hand. Returns whether any. */
static bool tcall_rows_patterns_(tcall_machine *m, size_t i,
                                 const tcall_row *row)
{
    const tcall_match *match = tcall_row_match_(row);
    size_t frames = m->frames, k;
    for (k = 0; k < row->count; k++)
        if (tcall_rows_matches_(m, &match[k], m->text + m->key))
            tcall_rows_push_(m, &row->of.members[k].node, row, i);
    return m->frames > frames;
}

/* Pushes what the rows of the frame i have for the member or item at hand. */
static void tcall_rows_within_(tcall_machine *m, size_t i)
{
    const tcall_frame_ *f = &m->slot[i].frame;
    const tcall_row *row = f->node->rows;
    bool object = m->syntax.object, known = false;
    uint32_t index = object ? f->count : m->open->count - 1;
    uint8_t listed = object ? TCALL_ON_PROPERTIES_ : TCALL_ON_PREFIX_;
    uint8_t others = object ? TCALL_ON_OTHERS_ : TCALL_ON_ITEMS_;
    if (f->role < TCALL_ROLE_KEPT_ && f->flags & TCALL_FRAME_GROUP_) {
        if (f->by->on == TCALL_ON_CONTAINS_ && !object)
            tcall_rows_branch_(m, &f->by->of.members->node, i,
                               TCALL_ROLE_COUNT_, true);
    }
    if (!tcall_rows_counts_(f))
        return;
    for (; row && row->on <= TCALL_ON_ITEMS_; row = tcall_row_next_(row)) {
        if (row->on == listed && index < row->count) {
            tcall_rows_push_(m, &row->of.members[index].node, row, i);
            known = true;
        } else if (row->on == TCALL_ON_PATTERNS_ && object) {
            known |= tcall_rows_patterns_(m, i, row);
        } else if (row->on == others && !known) {
            tcall_rows_push_(m, &row->of.members->node, row, i);
        }
    }
}

/* A value begins: each frame around it pushes what it has for an item; for a
 * member that was done when its name was complete. */
static void tcall_rows_begins_(tcall_machine *m)
{
    const tcall_target *target = &m->is->target;
    const tcall_open_ *open = m->open;
    size_t i;
    if (!m->syntax.depth && target->node)
        tcall_rows_frame_(m, target->node, NULL, TCALL_NO_FRAME_, 0);
    else if (!m->syntax.depth) /* it was refused: nothing is right */
        tcall_machine_stop_(m, TCALL_E_SCHEMA);
    else if (!m->syntax.object || m->inner)
        for (i = open->first; i < open->last; i++)
            tcall_rows_within_(m, i);
    if (m->brings || tcall_machine_is_container_(m->types))
        tcall_rows_expand_(m);
}

/* ---- names ---- */

enum { TCALL_KNOWN_ = 1, TCALL_TWICE_ = 2 };

/* The bit of the member at hand, 0: it has none. */
static uint32_t tcall_rows_bit_(const tcall_frame_ *f)
{
    return f->count < 32 ? (uint32_t)1 << f->count : 0;
}

static void tcall_rows_ends_(tcall_machine *m, uint8_t types);

/* Checks the name by what propertyNames of the frame i says. */
static void tcall_rows_names_(tcall_machine *m, size_t i)
{
    const tcall_row *row =
        tcall_row_of_(m->slot[i].frame.node, TCALL_ON_NAMES_);
    size_t first = m->first;
    if (!row)
        return;
    m->first = m->frames;
    m->types = TCALL_SHAPE_STRING;
    tcall_rows_push_(m, &row->of.members->node, row, i);
    tcall_rows_expand_(m);
    tcall_rows_ends_(m, TCALL_SHAPE_STRING);
    m->frames = m->first;
    m->first = (uint16_t)first;
}

/* Notes which member of the frame i the name is, and pushes what it has for
 * that. Returns a set: it is known that it came once, or twice. */
static uint8_t tcall_rows_note_(tcall_machine *m, size_t i)
{
    tcall_frame_ *f = &m->slot[i].frame;
    const tcall_row *list = tcall_row_of_(f->node, TCALL_ON_PROPERTIES_);
    tcall_str name = tcall_machine_hand_(m);
    uint32_t bit, before = f->came;
    uint16_t next = (uint16_t)(f->count + 1);
    f->count = list ? tcall_member_of_(list, next, name.ptr, name.len)
                    : TCALL_NO_MEMBER_;
    if (f->count != TCALL_NO_MEMBER_)
        f->met += list->of.members[f->count].node.flags & TCALL_NODE_MUST_;
    if (f->count != TCALL_NO_MEMBER_ && f->node->flags & TCALL_NODE_FIELDS_) {
        tcall_rows_push_(m, &list->of.members[f->count].node, list, i);
    } else {
        tcall_rows_within_(m, i);
        tcall_rows_names_(m, i);
    }
    bit = tcall_rows_bit_(f);
    f->came |= bit;
    return !bit ? 0 : before & bit ? TCALL_TWICE_ : TCALL_KNOWN_;
}

/* A name is complete: each frame of the object looks for it among its
 * properties. Returns whether one knows it. */
static bool tcall_rows_name_(tcall_machine *m)
{
    uint8_t came = 0;
    size_t i;
    for (i = m->open->first; i < m->open->last; i++)
        if (tcall_rows_counts_(&m->slot[i].frame))
            came |= tcall_rows_note_(m, i);
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

/* Returns the name of the object that is complete, from a key on, or NULL. */
static const char *tcall_rows_find_(tcall_machine *m, const char *from,
                                    const char *name)
{
    const char *key =
        tcall_machine_going_(m) ? tcall_text_find_(from, name) : NULL;
    tcall_rows_reads_(m, from, key ? key : m->text + m->len);
    return key;
}

/* Whether the object that is complete has a member. *last: the one that was
 * found last, or NULL: names tend to come in order. */
static bool tcall_rows_has_(tcall_machine *m, const char *name,
                            const char **last)
{
    const char *first = tcall_text_first_(m->text + m->token);
    const char *key = *last ? tcall_rows_find_(m, *last, name) : NULL;
    if (!key && first)
        key = tcall_rows_find_(m, first, name);
    *last = key ? key : *last;
    return key != NULL;
}

/* ---- a value ends ---- */

/* Whether two numbers are equal. */
TCALL_NOINLINE_ static bool tcall_rows_same_number_(const char *a,
                                                    const char *b)
{
    tcall_num_ x = tcall_text_number_(a), y = tcall_text_number_(b);
    return tcall_num_compare_(&x, &y) == 0;
}

/* Whether two values are equal, but for what is in them. */
static bool tcall_rows_alike_(const char *a, const char *b)
{
    tcall_type type = tcall_text_type_(a);
    if (type != tcall_text_type_(b))
        return false;
    if (type == TCALL_NUMBER)
        return tcall_rows_same_number_(a, b);
    if (type == TCALL_STRING)
        return tcall_text_equal_(a, b);
    if (type < TCALL_STRING)
        return *a == *b;
    return tcall_json_count(tcall_json_of_(a, NULL)) ==
           tcall_json_count(tcall_json_of_(b, NULL));
}

/* Goes on to the next key or element of a, and of elements to that of b. */
static bool tcall_rows_pair_(const char *pair[2])
{
    if (!tcall_text_is_key_(pair[0]))
        pair[1] = tcall_text_sibling_(pair[1]);
    pair[0] = tcall_text_sibling_(pair[0]);
    return pair[0] != NULL;
}

/* Whether two values are equal: in whatever order members are, 1 and 1.0 too.
 * Of each container that is open two places lie in the rest of the arena: the
 * key or element of a at hand, and the first key, or this element, of b. */
static bool tcall_rows_equal_(void *machine, const char *a, const char *b)
{
    tcall_machine *m = (tcall_machine *)machine;
    size_t size;
    const char **open = (const char **)tcall_machine_rest_(m, &size);
    const char **top = open, **end = open + size / sizeof *open, *key;
    for (;;) {
        key = tcall_text_first_(a);
        tcall_rows_reads_(m, a, key ? tcall_text_skip_(a) : a);
        if (key && end - top < 2)
            tcall_machine_stop_(m, TCALL_E_BUDGET);
        if (!tcall_machine_going_(m) || !tcall_rows_alike_(a, b))
            return false;
        if (key) {
            *top++ = key;
            *top++ = tcall_text_first_(b);
        }
        while (!key && top > open && !tcall_rows_pair_(top - 2))
            top -= 2;
        if (top == open)
            return true;
        a = top[-2];
        b = top[-1];
        if (tcall_text_is_key_(a)) {
            b = tcall_text_find_(b, a);
            if (!b)
                return false;
            tcall_rows_reads_(m, top[-1], b);
            a = tcall_text_value_(a);
            b = tcall_text_value_(b);
        }
    }
}

/* Returns a hash that equal names or scalars of a checked text share, where
 * each string has one spelling. */
static uint32_t tcall_rows_scalar_hash_(const char *text)
{
    tcall_str verbatim = tcall_text_verbatim_(text);
    tcall_num_ n;
    uint32_t hash;
    if (tcall_text_type_(text) != TCALL_NUMBER)
        return tcall_hash_(verbatim);
    n = tcall_num_read_(verbatim);
    hash = (uint32_t)(n.sign ? n.top * 4 + n.sign : 1);
    while (n.sign && n.first <= n.last)
        hash = hash * 31 + (uint32_t)tcall_num_digit_(&n, &n.first);
    return hash;
}

/* Returns a hash that equal values of it share: a sum over the names, scalars
 * and brackets that open. */
static uint32_t tcall_rows_hash_(const char *text)
{
    const char *end = tcall_text_skip_(text);
    uint32_t sum = 0;
    while (text < end) {
        bool scalar = tcall_text_scalar_(text, text + 1) == text;
        if (scalar)
            sum += tcall_rows_scalar_hash_(text) * 2654435769u;
        else if (*text == '{' || *text == '[')
            sum += (unsigned char)*text * 2654435769u;
        text = scalar ? tcall_text_skip_(text) : text + 1;
    }
    return sum;
}

/* Searches the string at a quote, piece by piece where it has escapes. */
static bool tcall_rows_matches_(tcall_machine *m, const tcall_match *match,
                                const char *quote)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(quote);
    tcall_pattern pattern = {
        NULL,          0, 0, (const tcall_node_ *)match->program, match->count,
        match->states, 0};
    tcall_search search = {NULL, 0, false};
    size_t size;
    bool found;
    search.memory = tcall_machine_rest_(m, &size);
    tcall_machine_costs_(m, (size_t)(bytes.end - bytes.at + 1) *
                                (1 + match->states / 16));
    if (!tcall_machine_takes_(m, match->by->memory(&pattern)) ||
        !tcall_machine_going_(m))
        return false;
    do {
        tcall_str piece = tcall_text_run_(&bytes);
        found = match->by->find(&pattern, &search, piece,
                                bytes.at >= bytes.end) != NULL;
    } while (!found && bytes.at < bytes.end);
    return found;
}

/* Whether the names of a list came. A fault says which, required by its number,
 * dependentRequired by where it stands in the row. *last: see
 * tcall_rows_has_. */
static bool tcall_rows_came_(tcall_machine *m, const tcall_frame_ *f,
                             const tcall_row *row, const char *list,
                             const char **last)
{
    const char *name = tcall_text_first_(list);
    bool ok = true;
    size_t i;
    for (i = 0; name && tcall_machine_going_(m); i++) {
        if (!tcall_rows_has_(m, name, last))
            ok = tcall_rows_fails_(m, f, row->on, row,
                                   row->on == TCALL_ON_REQUIRED_
                                       ? i
                                       : (size_t)(name - row->of.text));
        name = tcall_text_sibling_(name);
    }
    return ok;
}

/* Whether all required names came: mostly all are properties, of which is
 * counted how many did. */
static bool tcall_rows_required_(tcall_machine *m, const tcall_frame_ *f,
                                 const tcall_row *row)
{
    const char *last = NULL;
    return (row->flags & TCALL_ROW_MUSTS_ && f->met == row->count) ||
           tcall_rows_came_(m, f, row, row->of.text, &last);
}

/* Whether the names came that others of the object need. */
static bool tcall_rows_needed_(tcall_machine *m, const tcall_frame_ *f,
                               const tcall_row *row)
{
    const char *key = tcall_text_first_(row->of.text), *last = NULL;
    bool ok = true;
    for (; key && tcall_machine_going_(m); key = tcall_text_sibling_(key)) {
        const char *list = tcall_text_value_(key);
        if (*list == '[' && tcall_rows_has_(m, key, &last))
            ok &= tcall_rows_came_(m, f, row, list, &last);
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

/* Gives twice a short number, which needs no decimal arithmetic; where digits
 * after the point are more than none, one more, or less, so that it orders
 * against twice what is whole. Returns false for a long one. */
static bool tcall_rows_short_(tcall_str text, int32_t *twice)
{
    const char *at = text.ptr, *end = at + text.len;
    bool minus = *at == '-';
    int32_t sum = 0;
    for (at += minus; at < end && at < text.ptr + 9 && tcall_is_digit_(*at);)
        sum = sum * 10 + 2 * (*at++ - '0');
    if (at < end && *at == '.')
        while (++at < end && tcall_is_digit_(*at))
            sum |= *at != '0';
    *twice = minus ? -sum : sum;
    return at == end;
}

/* Whether the number at hand keeps a bound. */
TCALL_NOINLINE_ static bool tcall_rows_bound_(tcall_machine *m,
                                              const tcall_row *row)
{
    tcall_str text = tcall_machine_hand_(m);
    int32_t twice, limit = 2 * (int32_t)(int16_t)row->count;
    int order;
    if (row->flags & TCALL_ROW_SMALL_ && row->on != TCALL_ON_MULTIPLE_ &&
        tcall_rows_short_(text, &twice)) {
        order = (twice > limit) - (twice < limit);
    } else {
        tcall_num_ bound = tcall_text_number_(row->of.text);
        tcall_num_ num = tcall_num_read_(text);
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

/* Returns the value of const, or that of enum after this one, NULL: the first;
 * NULL at the end. */
static const char *tcall_rows_value_(const tcall_row *row, const char *value)
{
    if (row->on == TCALL_ON_CONST_)
        return value ? NULL : row->of.text;
    return value ? tcall_text_sibling_(value) : tcall_text_first_(row->of.text);
}

/* Whether the value at hand is one of an enum, or const. A string without
 * escapes has one spelling, as has all checked text. */
static bool tcall_rows_enum_(tcall_machine *m, const tcall_row *row)
{
    tcall_str is = tcall_machine_hand_(m);
    const char *p = NULL, *end = row->of.text;
    bool same = false;
    while (!same && (p = tcall_rows_value_(row, p)) != NULL) {
        size_t len;
        end = tcall_text_skip_(p);
        len = (size_t)(end - p);
        same = len == is.len && memcmp(p, is.ptr, len) == 0;
        if (!same && (*p != '"' || tcall_has_escapes_(tcall_slice_(p, len))))
            same = tcall_rows_equal_(m, is.ptr, p);
    }
    tcall_rows_reads_(m, row->of.text, end);
    return same;
}

/* Returns the length of the value at hand: characters, items or members. */
static size_t tcall_rows_length_(const tcall_machine *m, uint8_t types)
{
    return types == TCALL_SHAPE_STRING
               ? m->len - m->token - 2 - m->syntax.followed - m->escapes
               : m->open->count;
}

/* Returns which item of the array at hand is the second of two that are equal,
 * or 0. */
static size_t tcall_rows_twice_(tcall_machine *m)
{
    const char *item = tcall_text_first_(m->text + m->token), *twice = NULL;
    size_t i = 0;
    if (m->open->count > 1)
        twice = tcall_machine_twice_(m, tcall_rows_hash_, tcall_rows_equal_);
    for (; twice && item != twice; i++)
        item = tcall_text_sibling_(item);
    return i;
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

/* What one row says of a value of these types. */
static bool tcall_rows_row_holds_(tcall_machine *m, const tcall_frame_ *f,
                                  const tcall_row *row, uint8_t types)
{
    size_t count = 0;
    bool ok;
    switch (row->on) {
    case TCALL_ON_ENUM_:
    case TCALL_ON_CONST_: ok = tcall_rows_enum_(m, row); break;
    case TCALL_ON_PATTERN_:
        ok = tcall_rows_matches_(m, row->of.match, m->text + m->token);
        break;
    case TCALL_ON_MIN_LENGTH_:
    case TCALL_ON_MAX_LENGTH_:
    case TCALL_ON_MIN_ITEMS_:
    case TCALL_ON_MAX_ITEMS_:
    case TCALL_ON_MIN_PROPERTIES_:
    case TCALL_ON_MAX_PROPERTIES_:
        count = tcall_rows_length_(m, types);
        ok = (row->on - TCALL_ON_MIN_LENGTH_) % 2 ? count <= row->of.number
                                                  : count >= row->of.number;
        break;
    case TCALL_ON_UNIQUE_:
        count = tcall_rows_twice_(m);
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
    if (f->flags & TCALL_FRAME_DEAD_)
        return false;
    if (!(f->node->types & types))
        return tcall_rows_mistyped_(m, f);
    for (; row && tcall_machine_going_(m); row = tcall_row_next_(row))
        if (row->on >= TCALL_ON_ENUM_ &&
            tcall_rows_about_[row->on - TCALL_ON_ENUM_] & types)
            ok &= tcall_rows_row_holds_(m, f, row, types);
    return ok;
}

/* Tells the misfit that a group keeps. Returns false. */
static bool tcall_rows_tell_kept_(tcall_machine *m, size_t group, int which)
{
    tcall_rows_tell_(m, m->slot[group].frame.branch,
                     &m->slot[group + (size_t)which].kept);
    return false;
}

/* then or else, whichever counts. */
static bool tcall_rows_if_holds_(tcall_machine *m, size_t i)
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
static bool tcall_rows_group_holds_(tcall_machine *m, size_t i)
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
        if (!f->count && kept->role == TCALL_ROLE_KEPT_ &&
            tcall_rows_progress_(kept) > 2 * m->token + 1)
            return tcall_rows_tell_kept_(m, i, 1);
        return tcall_rows_fails_(m, f, f->by->on, f->by, f->count);
    }
}

/* Tells a frame's verdict to its parent. */
static void tcall_rows_answer_(tcall_machine *m, const tcall_frame_ *f, bool ok)
{
    tcall_frame_ *parent;
    if (f->parent == TCALL_NO_FRAME_) {
        m->error = ok || m->error ? m->error : TCALL_E_INVALID;
        return;
    }
    parent = &m->slot[f->parent].frame;
    if (f->role == TCALL_ROLE_AND_)
        parent->flags |= ok ? 0 : TCALL_FRAME_BAD_;
    else if (ok && parent->count < UINT16_MAX) /* if, then, else: 1, 2, 4 */
        parent->count =
            (uint16_t)(parent->count + (1 << (f->role - TCALL_ROLE_COUNT_)));
}

/* The frames of the run answer, the last first. */
static void tcall_rows_ends_(tcall_machine *m, uint8_t types)
{
    size_t i = m->frames;
    while (i-- > m->first && tcall_machine_going_(m)) {
        const tcall_frame_ *f = &m->slot[i].frame;
        bool ok;
        if (f->role >= TCALL_ROLE_KEPT_)
            continue;
        ok = f->flags & TCALL_FRAME_GROUP_ ? tcall_rows_group_holds_(m, i)
                                           : tcall_rows_holds_(m, f, types);
        tcall_rows_answer_(m, f, ok);
    }
}

/* ---- coercion ---- */

/* Returns the types that a frame admits: of enum and const those of the values
 * that the string at hand may mean. came holds the types that others of the
 * same value rule out; of a group of alternatives those that one admits. */
static uint8_t tcall_rows_admits_(tcall_machine *m, const tcall_frame_ *f)
{
    const char *text = m->text + m->token, *p;
    const tcall_row *row = f->node->rows;
    uint8_t types = (uint8_t)(f->node->types & ~f->came), listed;
    if (f->flags & TCALL_FRAME_GROUP_)
        return f->by->on <= TCALL_ON_ONEOF_ ? (uint8_t)f->came
                                            : (uint8_t)TCALL_SHAPE_ANY;
    if (types & TCALL_SHAPE_NUMBER)
        types |= TCALL_SHAPE_INTEGER;
    for (; row; row = tcall_row_next_(row)) {
        if (row->on != TCALL_ON_CONST_ && row->on != TCALL_ON_ENUM_)
            continue;
        tcall_rows_reads_(m, row->of.text, tcall_text_skip_(row->of.text));
        listed = 0;
        for (p = tcall_rows_value_(row, NULL); p; p = tcall_rows_value_(row, p))
            if (*p != '"' || (*text == '"' && tcall_text_equal_(p, text)))
                listed |= tcall_types_from_(*p);
        types &= listed;
    }
    return types;
}

/* Frames tell their parents what they admit as they tell their verdicts, the
 * last first: an alternative adds to it, all else takes from it. What is
 * certain counts; where nothing is, what branches of the objects around want.
 * Until the value ends came is free for it. */
static uint8_t tcall_rows_admitted_(tcall_machine *m)
{
    uint8_t all = TCALL_SHAPE_ANY, some = 0;
    bool certain = m->frames == m->first;
    size_t i;
    for (i = m->frames; i-- > m->first;) {
        tcall_frame_ *f = &m->slot[i].frame, *p;
        uint8_t types;
        if (f->role >= TCALL_ROLE_KEPT_)
            continue;
        types = tcall_rows_admits_(m, f);
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
            p->came |= (uint8_t)~types;
        else if (f->role == TCALL_ROLE_COUNT_ && p->by->on <= TCALL_ON_ONEOF_)
            p->came |= types;
    }
    return certain ? all : some;
}

/* Whether a frame of the run is that of a property. */
static bool tcall_rows_is_property_(const tcall_frame_ *f)
{
    return f->role == TCALL_ROLE_AND_ && f->by->on == TCALL_ON_PROPERTIES_;
}

/* The member at hand may be absent where it is a property, and optional for all
 * that know it. What is certain counts; where nothing is, branches. It is as if
 * it had not come: the frames that it begins with are those of its properties.
 */
static const char *tcall_rows_drop_(tcall_machine *m)
{
    const char *name = NULL;
    uint8_t known = 0, required = 0; /* 1: by a branch, 2: for certain */
    size_t i;
    for (i = m->first; i < m->frames; i++) {
        const tcall_frame_ *f = &m->slot[i].frame;
        uint8_t by = f->branch ? 1 : 2;
        if (!tcall_rows_is_property_(f))
            continue;
        known |= by;
        required |= f->node->flags & TCALL_NODE_MUST_ ? by : 0;
        name = f->by->of.members[m->slot[f->parent].frame.count].name;
    }
    if (known & 2 ? required & 2 : required)
        return NULL;
    for (i = m->first; i < m->frames; i++) {
        const tcall_frame_ *f = &m->slot[i].frame;
        tcall_frame_ *around = &m->slot[f->parent].frame;
        if (!tcall_rows_is_property_(f))
            continue;
        around->came &= ~tcall_rows_bit_(around);
        around->met -= f->node->flags & TCALL_NODE_MUST_;
    }
    return name;
}

TCALL_DATA_ const tcall_rows tcall_schema_rows = {
    tcall_rows_begins_, tcall_rows_name_, tcall_rows_ends_,
    tcall_rows_admitted_, tcall_rows_drop_};
