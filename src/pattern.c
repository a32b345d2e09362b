#pragma once
#include "pattern.h"
#include "text.c"
#include "write.c"

/* ==========================================================================
 * >>pattern
 *
 * The program is a nondeterministic automaton in the order of the pattern.
 * Each node has one state, but an atom that is repeated has one for each time,
 * and an item of a class has none. A state says that the text so far leads up
 * to it; to take a character moves every active state whose atom matches on to
 * the next one.
 */
enum {
    TCALL_RE_CHAR_,   /* one character */
    TCALL_RE_SET_,    /* \d and the like, and the dot; or an item of a class */
    TCALL_RE_RANGE_,  /* an item of a class */
    TCALL_RE_CLASS_,  /* [...]: of as many items before it as it says */
    TCALL_RE_ASSERT_, /* ^ $ \b \B, by its letter */
    TCALL_RE_SPLIT_,  /* goes on, and to another state as well */
    TCALL_RE_JUMP_
};

/* word: the op, and a value: a character, a state to go to ... */
#define TCALL_RE_VALUE_ 8
/* Of a set or a class, in its value: all other characters. */
#define TCALL_RE_OTHERS_ 1

/* arg of what has states: how many; how many of them must be passed; whether
 * the last may be passed again and again. Of a range: its end, and no states.
 */
#define TCALL_RE_STATES_(arg) ((arg)&0x3FF)
#define TCALL_RE_HIGH_        10
#define TCALL_RE_LEAST_(arg)  ((arg) >> TCALL_RE_HIGH_ & 0x3FF)
#define TCALL_RE_AGAIN_       ((uint32_t)1 << 20)
#define TCALL_RE_ONCE_        (1u | 1u << TCALL_RE_HIGH_)

#define TCALL_RE_COUNT_MAX_  1000
#define TCALL_RE_GROUPS_     7        /* that may be open at once */
#define TCALL_RE_CHARACTERS_ 0x110000 /* larger ones are bytes, not UTF-8 */

/* The characters of each set. */
static const struct {
    uint16_t set, low, high;
} tcall_re_ranges_[] = {
    {'d', '0', '9'},       {'w', '0', '9'},       {'w', 'A', 'Z'},
    {'w', '_', '_'},       {'w', 'a', 'z'},       {'s', 9, 13},
    {'s', ' ', ' '},       {'s', 0xA0, 0xA0},     {'s', 0x1680, 0x1680},
    {'s', 0x2000, 0x200A}, {'s', 0x2028, 0x2029}, {'s', 0x202F, 0x202F},
    {'s', 0x205F, 0x205F}, {'s', 0x3000, 0x3000}, {'s', 0xFEFF, 0xFEFF},
    {'.', '\n', '\n'},     {'.', '\r', '\r'},     {'.', 0x2028, 0x2029}};

/* Returns whether a set has a character; none has -1, an end of the text. */
static bool tcall_re_in_(int32_t set, int32_t c)
{
    size_t i;
    for (i = 0; i < sizeof tcall_re_ranges_ / sizeof *tcall_re_ranges_; i++)
        if (tcall_re_ranges_[i].set == set && c >= tcall_re_ranges_[i].low &&
            c <= tcall_re_ranges_[i].high)
            return true;
    return false;
}

/* Reads the next character of a text; a byte that begins none counts as one
 * that no pattern can name. */
static int32_t tcall_re_decode_(const char **at, const char *end)
{
    int32_t code = tcall_utf8_next_(at, end);
    return code < 0 ? TCALL_RE_CHARACTERS_ + (unsigned char)(*at)[-1] : code;
}

/* -- Parsing -------------------------------------------------------------- */

/* A group that is open. Its text is read once for each copy that its quantifier
 * asks for. Each alternative begins with a split to the next one, and ends with
 * a jump to the end of the next one. */
typedef struct tcall_re_group_ {
    const char *body;
    uint16_t copies; /* made so far */
    uint16_t first;  /* the state where this copy begins */
    uint16_t split;  /* the node with which the last alternative begins */
} tcall_re_group_;

typedef struct tcall_re_ {
    tcall_pattern *out;
    const char *here, *at, *end; /* c is from here to at */
    int32_t c;                   /* to be read next; -1: the end */
    tcall_node_ *node;
    uint32_t cap;
    int depth;
    tcall_re_group_ group[TCALL_RE_GROUPS_];
} tcall_re_;

/* Refuses the pattern, which ends all loops. The first reason stays. */
static void tcall_re_refuse_(tcall_re_ *re, const char *reason)
{
    if (!re->out->reason) {
        re->out->reason = reason;
        re->out->at = (size_t)(re->here - re->group->body);
    }
}

/* Returns the character that is to be read, and goes on to the one after it. */
static int32_t tcall_re_next_(tcall_re_ *re)
{
    int32_t c = re->c;
    char bytes[4];
    const char *p = bytes;
    re->here = re->at;
    if (re->at >= re->end) {
        re->c = -1;
    } else if (re->out->flags & TCALL_PATTERN_ESCAPED && *re->at == '\\') {
        re->c = tcall_utf8_next_(&p, bytes + tcall_text_char_(&re->at, bytes));
    } else {
        re->c = tcall_re_decode_(&re->at, re->end);
    }
    return c;
}

/* Goes past a character, if it is the next one. */
static bool tcall_re_take_(tcall_re_ *re, int32_t c)
{
    bool there = re->c == c;
    if (there)
        tcall_re_next_(re);
    return there;
}

/* Returns the index of a new node. Those that do not fit are only counted. */
static uint32_t tcall_re_emit_(tcall_re_ *re, int op, int32_t value,
                               uint32_t arg)
{
    if (re->out->count < re->cap) {
        tcall_node_ *node = &re->node[re->out->count];
        node->word = (uint32_t)value << TCALL_RE_VALUE_ | (uint32_t)op;
        node->arg = arg;
    }
    re->out->states += TCALL_RE_STATES_(arg);
    return re->out->count++;
}

/* Gives a node with this op, if it is one, the state that it leads to. */
static void tcall_re_patch_(tcall_re_ *re, uint32_t i, uint32_t op,
                            uint32_t state)
{
    if (i < re->cap && i < re->out->count && (re->node[i].word & 0xFF) == op)
        re->node[i].word |= state << TCALL_RE_VALUE_;
}

/* -- Characters and classes ----------------------------------------------- */

/* \xHH, \uHHHH: its digits. */
static int32_t tcall_re_hex_(tcall_re_ *re, int digits)
{
    int32_t value = 0;
    for (; digits; digits--) {
        int hex = re->c < 0x80 ? tcall_hex_((char)re->c) : -1;
        if (hex < 0) {
            tcall_re_refuse_(re, "\\x without two or \\u without four "
                                 "hexadecimal digits");
            return 0;
        }
        value = value << 4 | hex;
        tcall_re_next_(re);
    }
    if (value >> 11 == 0x1B)
        tcall_re_refuse_(re, "half of a surrogate pair");
    return value;
}

/* Returns the set of a letter, or of what is not in it, as a number below 0. */
static int32_t tcall_re_set_(int32_t letter, bool others)
{
    return -(letter * 2 + (others ? TCALL_RE_OTHERS_ : 0));
}

/* After a backslash. Returns a character or a set. */
static int32_t tcall_re_escape_(tcall_re_ *re)
{
    static const char controls[] = "tnvfr"; /* U+0009 and on */
    int32_t c = tcall_re_next_(re), low = c | 0x20;
    int32_t i;
    if (low == 'd' || low == 'w' || low == 's')
        return tcall_re_set_(low, c != low);
    if (c == 'x' || c == 'u')
        return tcall_re_hex_(re, c == 'x' ? 2 : 4);
    for (i = 0; controls[i]; i++)
        if (c == controls[i])
            return '\t' + i;
    if (c == '0')
        return 0;
    if (c < 0)
        tcall_re_refuse_(re, "a backslash at the end");
    else if (tcall_re_in_('d', c))
        tcall_re_refuse_(re, "back references are not supported");
    else if (tcall_re_in_('w', c))
        tcall_re_refuse_(re, "unknown escape");
    return c;
}

/* Returns one end of a range, or a set. */
static int32_t tcall_re_member_(tcall_re_ *re)
{
    int32_t c = tcall_re_next_(re);
    if (c < 0)
        tcall_re_refuse_(re, "[ without ]");
    if (c == '\\' && tcall_re_take_(re, 'b'))
        return '\b';
    return c == '\\' ? tcall_re_escape_(re) : c;
}

/* After '['. Returns the value of the class, whose items are before it. */
static int32_t tcall_re_class_(tcall_re_ *re)
{
    int32_t others = tcall_re_take_(re, '^') ? TCALL_RE_OTHERS_ : 0;
    uint32_t first = re->out->count;
    while (!re->out->reason && !tcall_re_take_(re, ']')) {
        int32_t low = tcall_re_member_(re), high = low;
        bool range = low >= 0 && tcall_re_take_(re, '-');
        if (range && re->c == ']') /* it stands for itself */
            tcall_re_emit_(re, TCALL_RE_RANGE_, '-',
                           (uint32_t)'-' << TCALL_RE_HIGH_);
        else if (range)
            high = tcall_re_member_(re);
        if (high < low)
            tcall_re_refuse_(re, "a range in [] that runs backwards");
        if (low < 0)
            tcall_re_emit_(re, TCALL_RE_SET_, -low, 0);
        else
            tcall_re_emit_(re, TCALL_RE_RANGE_, low,
                           (uint32_t)high << TCALL_RE_HIGH_);
    }
    return (int32_t)(re->out->count - first) * 2 + others;
}

/* -- Quantifiers ---------------------------------------------------------- */

/* Returns the number that follows, at most TCALL_RE_COUNT_MAX_ + 1, as is that
 * of no digits. */
static uint32_t tcall_re_number_(tcall_re_ *re)
{
    uint32_t number = tcall_re_in_('d', re->c) ? 0 : TCALL_RE_COUNT_MAX_ + 1;
    while (tcall_re_in_('d', re->c)) {
        number = number * 10 + (uint32_t)(tcall_re_next_(re) - '0');
        if (number > TCALL_RE_COUNT_MAX_)
            number = TCALL_RE_COUNT_MAX_ + 1;
    }
    return number;
}

/* Reads a quantifier, if there is one. Returns the arg of what comes before. */
static uint32_t tcall_re_quantifier_(tcall_re_ *re)
{
    int32_t c = re->c;
    bool open = c == '*' || c == '+';
    uint32_t min = c == '+', max = 1;
    if (!open && c != '?' && c != '{')
        return TCALL_RE_ONCE_;
    tcall_re_next_(re);
    if (c == '{') {
        min = max = tcall_re_number_(re);
        if (tcall_re_take_(re, ',')) {
            open = re->c == '}';
            max = open ? min + !min : tcall_re_number_(re);
        }
        if (!tcall_re_take_(re, '}') || max < min || max > TCALL_RE_COUNT_MAX_)
            tcall_re_refuse_(re, "a count in {} that is not two numbers, runs "
                                 "backwards or is over 1000");
    }
    tcall_re_take_(re, '?'); /* lazy: the same texts match */
    return max | min << TCALL_RE_HIGH_ | (open ? TCALL_RE_AGAIN_ : 0);
}

/* -- Expressions ---------------------------------------------------------- */

/* Begins a copy of the group that is open. */
static void tcall_re_copy_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    re->at = group->body;
    tcall_re_next_(re);
    group->first = (uint16_t)re->out->states;
    group->split = (uint16_t)tcall_re_emit_(re, TCALL_RE_SPLIT_, 0, 1);
}

/* After '('. */
static void tcall_re_open_(tcall_re_ *re)
{
    if (tcall_re_take_(re, '?') && !tcall_re_take_(re, ':')) {
        tcall_re_refuse_(re, "look-around and named groups are not supported");
    } else if (re->depth + 1 == TCALL_RE_GROUPS_) {
        tcall_re_refuse_(re, "groups are nested too deeply");
    } else {
        re->depth++;
        re->group[re->depth].body = re->here;
        re->group[re->depth].copies = 0;
        tcall_re_copy_(re);
    }
}

/* An alternative has ended: the one before it jumps here. */
static void tcall_re_end_(tcall_re_ *re)
{
    tcall_re_patch_(re, re->group[re->depth].split - 1u, TCALL_RE_JUMP_,
                    re->out->states);
}

/* After '|'. */
static void tcall_re_alternative_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    tcall_re_end_(re);
    tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->out->states + 1);
    tcall_re_emit_(re, TCALL_RE_JUMP_, 0, 1);
    group->split = (uint16_t)tcall_re_emit_(re, TCALL_RE_SPLIT_, 0, 1);
}

/* After ')'. */
static void tcall_re_close_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    uint32_t close, times;
    if (!re->depth) { /* that is the whole pattern */
        tcall_re_refuse_(re, ") without (");
        return;
    }
    tcall_re_end_(re);
    close = tcall_re_emit_(re, TCALL_RE_SPLIT_, 0, 1);
    times = tcall_re_quantifier_(re);
    if (!TCALL_RE_STATES_(times))
        tcall_re_refuse_(re, "a group that is repeated 0 times");
    if (group->copies++ >= TCALL_RE_LEAST_(times)) /* it may be left out */
        tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->out->states);
    if (group->copies < TCALL_RE_STATES_(times)) {
        tcall_re_copy_(re);
    } else {
        if (times & TCALL_RE_AGAIN_)
            tcall_re_patch_(re, close, TCALL_RE_SPLIT_, group->first);
        re->depth--;
    }
}

/* An assertion; or an atom, which begins with this character, and its
 * quantifier. */
static void tcall_re_piece_(tcall_re_ *re, int32_t c)
{
    int op = c == '[' ? TCALL_RE_CLASS_ : TCALL_RE_CHAR_;
    if (c == '^' || c == '$' || (c == '\\' && (re->c | 0x20) == 'b')) {
        c = c == '\\' ? tcall_re_next_(re) : c;
        tcall_re_emit_(re, TCALL_RE_ASSERT_, c, 1);
        return;
    }
    if (c == '[')
        c = tcall_re_class_(re);
    else if (c == '\\')
        c = tcall_re_escape_(re);
    else if (c == '.')
        c = tcall_re_set_('.', true);
    if (c < 0)
        op = TCALL_RE_SET_;
    tcall_re_emit_(re, op, c < 0 ? -c : c, tcall_re_quantifier_(re));
}

/* Reads an atom, an assertion, or what groups begin, end and part with. */
static void tcall_re_read_(tcall_re_ *re)
{
    int32_t c = tcall_re_next_(re);
    switch (c) {
    case '(': tcall_re_open_(re); break;
    case ')': tcall_re_close_(re); break;
    case '|': tcall_re_alternative_(re); break;
    case '*':
    case '+':
    case '?':
    case '{': tcall_re_refuse_(re, "nothing to repeat"); break;
    default: tcall_re_piece_(re, c);
    }
}

/* The whole pattern is like a group that is never repeated. Groups with counts
 * are copied, so it is the size of the program that is limited, at each step:
 * a few characters can ask for a billion copies. */
int tcall_pattern_compile(tcall_pattern *out, tcall_str text, unsigned flags,
                          void *mem, size_t size)
{
    tcall_re_ re;
    memset(out, 0, sizeof *out);
    memset(&re, 0, sizeof re);
    re.out = out;
    re.group->body = text.ptr;
    re.end = text.ptr + text.len;
    re.node = (tcall_node_ *)mem;
    re.cap = mem ? (uint32_t)(size / sizeof *re.node) : 0;
    out->program = re.node;
    out->flags = flags;
    tcall_re_copy_(&re);
    while (!out->reason && re.c >= 0) {
        tcall_re_read_(&re);
        if (out->states > TOOLCALL_MAX_PATTERN ||
            out->count > 2 * TOOLCALL_MAX_PATTERN)
            tcall_re_refuse_(&re, "the pattern is too large");
    }
    if (re.depth)
        tcall_re_refuse_(&re, "( without )");
    tcall_re_end_(&re);
    out->need = out->count * sizeof *re.node;
    if (out->reason)
        return TCALL_E_INVALID;
    return out->count > re.cap ? TCALL_E_MEMORY : (int)out->need;
}

/* -- Searching ------------------------------------------------------------ */

/* Returns whether what is no class has a character, or its other case. */
static bool tcall_re_has_(const tcall_node_ *node, int32_t c, int32_t other)
{
    int32_t low = (int32_t)(node->word >> TCALL_RE_VALUE_), high = low;
    if ((node->word & 0xFF) == TCALL_RE_SET_)
        return c < TCALL_RE_CHARACTERS_ &&
               tcall_re_in_(low >> 1, c) != (bool)(low & TCALL_RE_OTHERS_);
    if ((node->word & 0xFF) == TCALL_RE_RANGE_)
        high = (int32_t)(node->arg >> TCALL_RE_HIGH_);
    return (low <= c && c <= high) || (low <= other && other <= high);
}

/* Returns whether an atom matches a character. */
static bool tcall_re_matches_(const tcall_node_ *node, int32_t c, int32_t other)
{
    uint32_t op = node->word & 0xFF, value = node->word >> TCALL_RE_VALUE_;
    const tcall_node_ *item = node - value / 2;
    bool in = false;
    if (op != TCALL_RE_CLASS_)
        return op < TCALL_RE_CLASS_ && tcall_re_has_(node, c, other);
    for (; item < node && !in; item++)
        in = tcall_re_has_(item, c, other);
    return in != (bool)(value & TCALL_RE_OTHERS_);
}

/* Returns whether an assertion holds between two characters, -1: an end of the
 * text. */
static bool tcall_re_holds_(uint32_t which, int32_t before, int32_t next)
{
    bool boundary = tcall_re_in_('w', before) != tcall_re_in_('w', next);
    return which == '^'   ? before < 0
           : which == '$' ? next < 0
           : which == 'b' ? boundary
                          : !boundary;
}

/* Activates all states that can be reached without taking a character (the
 * epsilon closure). Only splits lead backwards; then it goes over all again. */
static void tcall_re_closure_(const tcall_pattern *pattern, uint8_t *states,
                              int32_t before, int32_t next)
{
    const tcall_node_ *node, *end = pattern->program + pattern->count;
    bool again = true;
    while (again) {
        uint8_t *state = states;
        again = false;
        for (node = pattern->program; node < end; node++) {
            uint32_t op = node->word & 0xFF;
            uint32_t value = node->word >> TCALL_RE_VALUE_;
            uint32_t width = TCALL_RE_STATES_(node->arg);
            uint32_t k = TCALL_RE_LEAST_(node->arg);
            /* from here on what comes next may begin */
            while (k < width && !state[k])
                k++;
            if (k < width && (op != TCALL_RE_ASSERT_ ||
                              tcall_re_holds_(value, before, next))) {
                if (op != TCALL_RE_JUMP_)
                    state[width] = 1;
                if (op >= TCALL_RE_SPLIT_ && value && !states[value]) {
                    states[value] = 1;
                    again = again || states + value < state;
                }
            }
            state += width;
        }
    }
}

/* Takes a character: what matched goes on to the next state. */
static void tcall_re_step_(const tcall_pattern *pattern, uint8_t *state,
                           int32_t c)
{
    const tcall_node_ *node = pattern->program, *end = node + pattern->count;
    /* letters of ASCII only: the others have no such bit */
    bool fold = pattern->flags & TCALL_PATTERN_FOLD &&
                tcall_re_in_('w', c | 0x20) && (c | 0x20) > '9';
    int32_t other = fold ? c ^ 0x20 : c;
    bool arrives = false;
    for (; node < end; node++) {
        uint32_t width = TCALL_RE_STATES_(node->arg), k;
        /* most nodes are not active: their characters are not looked at */
        bool active = memchr(state, 1, width) != NULL;
        bool matches = active && tcall_re_matches_(node, c, other);
        for (k = 0; k < width; k++, state++) {
            /* the old state is read before the one in front of it moves in */
            bool moves = *state && matches;
            bool stays = k + 1 == width && node->arg & TCALL_RE_AGAIN_;
            *state = arrives || (moves && stays);
            arrives = moves;
        }
    }
    *state = arrives;
}

/* One for each node's, and one for the match. */
size_t tcall_pattern_memory(const tcall_pattern *pattern)
{
    return pattern->states + 1;
}

const char *tcall_pattern_find(const tcall_pattern *pattern,
                               tcall_search *search, tcall_str piece, bool last)
{
    uint8_t *states = (uint8_t *)search->memory;
    const char *p = piece.ptr, *end = p + piece.len;
    if (!search->begun) {
        memset(states, 0, tcall_pattern_memory(pattern));
        search->before = -1;
        search->begun = true;
    }
    for (;;) {
        const char *at = p;
        int32_t next = p < end ? tcall_re_decode_(&p, end) : -1;
        if (next < 0 && !last)
            return NULL; /* what comes next is not known yet */
        states[0] = 1;   /* a match may begin anywhere */
        tcall_re_closure_(pattern, states, search->before, next);
        if (states[pattern->states])
            return at;
        if (next < 0)
            return NULL;
        tcall_re_step_(pattern, states, next);
        search->before = next;
    }
}

TCALL_DATA_ const struct tcall_patterns_ tcall_patterns = {
    tcall_pattern_compile, tcall_pattern_memory, tcall_pattern_find};
