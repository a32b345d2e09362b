#pragma once
#include "pattern.h"
#include "text.c"
#include "write.c"

/* ==========================================================================
 * >>pattern
 *
 * The program is a nondeterministic automaton in the order of the pattern.
 * Each node has one state, but an atom that is repeated has one for each time.
 * A state says that the text so far leads up to it; to take a character moves
 * every active state whose atom matches on to the next one.
 */
enum {
    TCALL_RE_CHAR_,     /* one character */
    TCALL_RE_SET_,      /* \d and the like, and the dot */
    TCALL_RE_CLASS_,    /* [...]: as many items follow as it says */
    TCALL_RE_ITEM_,     /* of a class: a range up to arg */
    TCALL_RE_ITEM_SET_, /* of a class: \d and the like */
    TCALL_RE_ASSERT_,   /* ^ $ \b \B, by its letter */
    TCALL_RE_SPLIT_,    /* goes on, and to another state as well */
    TCALL_RE_JUMP_,
    TCALL_RE_MATCH_ /* the last node: how many states come before */
};

/* word: the op, and a value: a character, a state to go to ... */
#define TCALL_RE_VALUE_ 8
/* Of a set or a class, in its value: all other characters. */
#define TCALL_RE_OTHERS_ 1u

/* arg of what has states: how many; how many of them must be passed; whether
 * the last may be passed again and again. */
#define TCALL_RE_STATES_(arg) ((arg)&0xFFF)
#define TCALL_RE_LEAST_(arg)  ((arg) >> 12 & 0xFFF)
#define TCALL_RE_AGAIN_       ((uint32_t)1 << 24)
#define TCALL_RE_ONCE_        (1u | 1u << 12)

#define TCALL_RE_COUNT_MAX_  1000
#define TCALL_RE_GROUPS_     7 /* that may be open at once */
#define TCALL_RE_NONE_       0xFFFFFFFFu
#define TCALL_RE_CHARACTERS_ 0x110000 /* larger ones are bytes, not UTF-8 */

enum { TCALL_RE_DIGIT_, TCALL_RE_WORD_, TCALL_RE_SPACE_, TCALL_RE_LINE_END_ };

static const struct {
    uint16_t set, low, high;
} tcall_re_ranges_[] = {
    {TCALL_RE_DIGIT_, '0', '9'},       {TCALL_RE_WORD_, '0', '9'},
    {TCALL_RE_WORD_, 'A', 'Z'},        {TCALL_RE_WORD_, '_', '_'},
    {TCALL_RE_WORD_, 'a', 'z'},        {TCALL_RE_SPACE_, 9, 13},
    {TCALL_RE_SPACE_, ' ', ' '},       {TCALL_RE_SPACE_, 0xA0, 0xA0},
    {TCALL_RE_SPACE_, 0x1680, 0x1680}, {TCALL_RE_SPACE_, 0x2000, 0x200A},
    {TCALL_RE_SPACE_, 0x2028, 0x2029}, {TCALL_RE_SPACE_, 0x202F, 0x202F},
    {TCALL_RE_SPACE_, 0x205F, 0x205F}, {TCALL_RE_SPACE_, 0x3000, 0x3000},
    {TCALL_RE_SPACE_, 0xFEFF, 0xFEFF}, {TCALL_RE_LINE_END_, '\n', '\n'},
    {TCALL_RE_LINE_END_, '\r', '\r'},  {TCALL_RE_LINE_END_, 0x2028, 0x2029},
};

/* Whether a set has a character; none has -1, an end of the text. */
static bool tcall_re_in_(unsigned set, int32_t c)
{
    size_t i;
    for (i = 0; i < sizeof tcall_re_ranges_ / sizeof *tcall_re_ranges_; i++)
        if (tcall_re_ranges_[i].set == set && c >= tcall_re_ranges_[i].low &&
            c <= tcall_re_ranges_[i].high)
            return true;
    return false;
}

/* The next character of a text; a byte that begins none counts as one that no
 * pattern can name. */
static int32_t tcall_re_decode_(const char **at, const char *end)
{
    unsigned char byte = (unsigned char)**at;
    if (byte < 0x80 || tcall_utf8_len_(*at, end)) {
        return tcall_utf8_next_(at);
    }
    ++*at;
    return TCALL_RE_CHARACTERS_ + byte;
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
    const char *from, *at, *end;
    bool escaped;
    tcall_node_ *node;
    uint32_t cap, count, states;
    tcall_re_group_ group[TCALL_RE_GROUPS_];
    int depth;
} tcall_re_;

/* Refuses the pattern, which ends all loops. The first reason stays. */
static void tcall_re_refuse_(tcall_re_ *re, const char *reason)
{
    if (!re->out->reason) {
        re->out->reason = reason;
        re->out->at = (size_t)(re->at - re->from);
    }
}

/* The next character of the pattern, -1 at its end. */
static int32_t tcall_re_next_(tcall_re_ *re)
{
    char bytes[4];
    const char *p = bytes;
    if (re->at >= re->end)
        return -1;
    if (!re->escaped || *re->at != '\\')
        return tcall_re_decode_(&re->at, re->end);
    tcall_text_char_(&re->at, bytes);
    return tcall_utf8_next_(&p);
}

/* The same without going on: an escape of JSON may be several bytes. */
static int32_t tcall_re_peek_(tcall_re_ *re)
{
    const char *at = re->at;
    int32_t c = tcall_re_next_(re);
    re->at = at;
    return c;
}

/* Goes past a character, if it is the next one. */
static bool tcall_re_take_(tcall_re_ *re, int32_t c)
{
    bool there = tcall_re_peek_(re) == c;
    if (there)
        tcall_re_next_(re);
    return there;
}

/* Nodes that do not fit are only counted. */
static uint32_t tcall_re_emit_(tcall_re_ *re, int op, uint32_t value,
                               uint32_t arg)
{
    if (re->count < re->cap) {
        re->node[re->count].word = value << TCALL_RE_VALUE_ | (uint32_t)op;
        re->node[re->count].arg = arg;
    }
    return re->count++;
}

/* A node with one state. */
static uint32_t tcall_re_one_(tcall_re_ *re, int op, uint32_t value)
{
    re->states++;
    return tcall_re_emit_(re, op, value, 1);
}

/* Gives a node with this op, if it is one, the state that it leads to. */
static void tcall_re_patch_(tcall_re_ *re, uint32_t i, uint32_t op,
                            uint32_t state)
{
    if (i < re->cap && i < re->count && (re->node[i].word & 0xFF) == op)
        re->node[i].word |= state << TCALL_RE_VALUE_;
}

/* -- Characters and classes ----------------------------------------------- */

/* \xHH, \uHHHH: its digits. */
static int32_t tcall_re_hex_(tcall_re_ *re, int digits)
{
    int32_t value = 0;
    for (; digits; digits--) {
        int32_t c = tcall_re_next_(re);
        int hex = c < 0x80 ? tcall_hex_((char)c) : -1;
        if (c < 0 || hex < 0) {
            tcall_re_refuse_(re, "\\x without two or \\u without four "
                                 "hexadecimal digits");
            return 0;
        }
        value = value << 4 | hex;
    }
    if (value >> 11 == 0x1B)
        tcall_re_refuse_(re, "half of a surrogate pair");
    return value;
}

/* After a backslash. Returns a character; or, if it was \d or the like, -1 and
 * its set in *set. */
static int32_t tcall_re_escape_(tcall_re_ *re, uint32_t *set)
{
    static const char controls[][2] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'},
                                       {'f', '\f'}, {'v', '\v'}, {'0', 0}};
    int32_t c = tcall_re_next_(re), low = c | 0x20;
    size_t i;
    if (low == 'd' || low == 'w' || low == 's') {
        *set = (low == 'd'   ? TCALL_RE_DIGIT_
                : low == 'w' ? TCALL_RE_WORD_
                             : TCALL_RE_SPACE_) *
                   2u +
               (c != low ? TCALL_RE_OTHERS_ : 0);
        return -1;
    }
    if (c == 'x' || c == 'u')
        return tcall_re_hex_(re, c == 'x' ? 2 : 4);
    for (i = 0; i < sizeof controls / sizeof *controls; i++)
        if (c == controls[i][0])
            return controls[i][1];
    if (c < 0)
        tcall_re_refuse_(re, "a backslash at the end");
    else if (c >= '1' && c <= '9')
        tcall_re_refuse_(re, "back references are not supported");
    else if (c < 0x80 && tcall_re_in_(TCALL_RE_WORD_, c))
        tcall_re_refuse_(re, "unknown escape");
    return c < 0 ? 0 : c;
}

/* One end of a range, or a set: -1. */
static int32_t tcall_re_member_(tcall_re_ *re, uint32_t *set)
{
    int32_t c = tcall_re_next_(re);
    if (c < 0)
        tcall_re_refuse_(re, "[ without ]");
    if (c == '\\' && tcall_re_take_(re, 'b'))
        return '\b';
    return c == '\\' ? tcall_re_escape_(re, set) : c;
}

/* After '['. Returns the node of the class. */
static uint32_t tcall_re_class_(tcall_re_ *re)
{
    uint32_t others = tcall_re_take_(re, '^') ? TCALL_RE_OTHERS_ : 0;
    uint32_t class_node = tcall_re_emit_(re, TCALL_RE_CLASS_, 0, 0);
    while (!re->out->reason && !tcall_re_take_(re, ']')) {
        uint32_t set = 0;
        int32_t low = tcall_re_member_(re, &set), high = low;
        const char *minus = re->at;
        if (low >= 0 && tcall_re_take_(re, '-')) {
            if (tcall_re_peek_(re) == ']')
                re->at = minus; /* it stands for itself */
            else
                high = tcall_re_member_(re, &set);
        }
        if (high < low)
            tcall_re_refuse_(re, "a range in [] that runs backwards");
        if (low < 0)
            tcall_re_emit_(re, TCALL_RE_ITEM_SET_, set, 0);
        else
            tcall_re_emit_(re, TCALL_RE_ITEM_, (uint32_t)low, (uint32_t)high);
    }
    tcall_re_patch_(re, class_node, TCALL_RE_CLASS_,
                    (re->count - class_node - 1) * 2 + others);
    return class_node;
}

/* -- Quantifiers ---------------------------------------------------------- */

/* Digits, at most TCALL_RE_COUNT_MAX_ + 1; NONE: there are none. */
static uint32_t tcall_re_number_(tcall_re_ *re)
{
    uint32_t number = TCALL_RE_NONE_;
    for (;;) {
        int32_t c = tcall_re_peek_(re);
        if (c < '0' || c > '9')
            return number;
        tcall_re_next_(re);
        number =
            (number == TCALL_RE_NONE_ ? 0 : number * 10) + (uint32_t)(c - '0');
        if (number > TCALL_RE_COUNT_MAX_)
            number = TCALL_RE_COUNT_MAX_ + 1;
    }
}

/* Reads a quantifier, if there is one. Returns the arg of what comes before. */
static uint32_t tcall_re_quantifier_(tcall_re_ *re)
{
    int32_t c = tcall_re_peek_(re);
    bool open = c == '*' || c == '+';
    uint32_t min = c == '+', max = 1;
    if (c != '*' && c != '+' && c != '?' && c != '{')
        return TCALL_RE_ONCE_;
    tcall_re_next_(re);
    if (c == '{') {
        min = max = tcall_re_number_(re);
        if (tcall_re_take_(re, ',')) {
            open = tcall_re_peek_(re) == '}';
            max = open ? min + !min : tcall_re_number_(re);
        }
        if (!tcall_re_take_(re, '}') || max < min ||
            max > TCALL_RE_COUNT_MAX_) {
            tcall_re_refuse_(re, "a count in {} that is not two numbers, runs "
                                 "backwards or is over 1000");
            return TCALL_RE_ONCE_;
        }
    }
    tcall_re_take_(re, '?'); /* lazy: the same texts match */
    return max | min << 12 | (open ? TCALL_RE_AGAIN_ : 0);
}

/* -- Expressions ---------------------------------------------------------- */

/* Begins a copy of the group that is open. */
static void tcall_re_copy_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    re->at = group->body;
    group->first = (uint16_t)re->states;
    group->split = (uint16_t)tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
}

/* After '('. */
static void tcall_re_open_(tcall_re_ *re)
{
    if (tcall_re_take_(re, '?') && !tcall_re_take_(re, ':')) {
        tcall_re_refuse_(re, "look-around and named groups are not supported");
        return;
    }
    if (re->depth + 1 == TCALL_RE_GROUPS_) {
        tcall_re_refuse_(re, "groups are nested too deeply");
        return;
    }
    re->depth++;
    re->group[re->depth].body = re->at;
    re->group[re->depth].copies = 0;
    tcall_re_copy_(re);
}

/* An alternative has ended: the one before it jumps here. */
static void tcall_re_end_(tcall_re_ *re)
{
    tcall_re_patch_(re, re->group[re->depth].split - 1u, TCALL_RE_JUMP_,
                    re->states);
}

/* After '|'. */
static void tcall_re_alternative_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    tcall_re_end_(re);
    tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->states + 1);
    tcall_re_one_(re, TCALL_RE_JUMP_, 0);
    group->split = (uint16_t)tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
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
    close = tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
    times = tcall_re_quantifier_(re);
    if (!TCALL_RE_STATES_(times))
        tcall_re_refuse_(re, "a group that is repeated 0 times");
    if (group->copies++ >=
        TCALL_RE_LEAST_(times)) /* this one may be left out */
        tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->states);
    if (group->copies < TCALL_RE_STATES_(times)) {
        tcall_re_copy_(re);
        return;
    }
    if (times & TCALL_RE_AGAIN_)
        tcall_re_patch_(re, close, TCALL_RE_SPLIT_, group->first);
    re->depth--;
}

/* An atom that begins with this character. Returns its node, NONE: it was an
 * assertion, which cannot be repeated. */
static uint32_t tcall_re_atom_(tcall_re_ *re, int32_t c)
{
    uint32_t set = TCALL_RE_LINE_END_ * 2u + TCALL_RE_OTHERS_;
    int32_t next = c == '\\' ? tcall_re_peek_(re) : c;
    if (c == '^' || c == '$' || (c == '\\' && (next | 0x20) == 'b')) {
        if (c == '\\')
            tcall_re_next_(re);
        tcall_re_one_(re, TCALL_RE_ASSERT_, (uint32_t)next);
        return TCALL_RE_NONE_;
    }
    if (c == '[')
        return tcall_re_class_(re);
    if (c == '\\')
        c = tcall_re_escape_(re, &set);
    else if (c == '.')
        c = -1;
    return c < 0 ? tcall_re_emit_(re, TCALL_RE_SET_, set, 0)
                 : tcall_re_emit_(re, TCALL_RE_CHAR_, (uint32_t)c, 0);
}

/* An atom and its quantifier. */
static void tcall_re_piece_(tcall_re_ *re, int32_t c)
{
    uint32_t node = tcall_re_atom_(re, c), times;
    if (node == TCALL_RE_NONE_ || re->out->reason)
        return;
    times = tcall_re_quantifier_(re);
    re->states += TCALL_RE_STATES_(times);
    if (node < re->cap)
        re->node[node].arg = times;
}

/* The whole pattern is like a group that is never repeated. Groups with counts
 * are copied, so it is the size of the program that is limited, at each step:
 * a few characters can ask for a billion copies. */
static void tcall_re_parse_(tcall_re_ *re)
{
    int32_t c;
    re->group[0].body = re->at;
    tcall_re_copy_(re);
    while (!re->out->reason && (c = tcall_re_next_(re)) >= 0) {
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
        if (re->states > TOOLCALL_MAX_PATTERN ||
            re->count > 2 * TOOLCALL_MAX_PATTERN)
            tcall_re_refuse_(re, "the pattern is too large");
    }
    if (re->depth)
        tcall_re_refuse_(re, "( without )");
    tcall_re_end_(re);
    tcall_re_emit_(re, TCALL_RE_MATCH_, re->states, 0);
}

int tcall_pattern_compile(tcall_pattern *out, tcall_str text, unsigned flags,
                          void *mem, size_t size)
{
    tcall_re_ re;
    memset(out, 0, sizeof *out);
    memset(&re, 0, sizeof re);
    re.out = out;
    re.from = re.at = text.ptr;
    re.end = text.ptr + text.len;
    re.escaped = flags & TCALL_PATTERN_ESCAPED;
    re.node = (tcall_node_ *)mem;
    re.cap = mem ? (uint32_t)(size / sizeof *re.node) : 0;
    tcall_re_parse_(&re);
    out->need = re.count * sizeof *re.node;
    out->program = re.node;
    out->count = re.count;
    out->states = re.states;
    out->flags = flags;
    if (out->reason)
        return TCALL_E_INVALID;
    return re.count > re.cap ? TCALL_E_MEMORY : (int)out->need;
}

/* -- Searching ------------------------------------------------------------ */

/* A character with its case changed, if it is a letter and case is ignored. */
static int32_t tcall_re_other_(int32_t c, unsigned flags)
{
    /* letters of ASCII only: the others have no such bit */
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return flags & TCALL_PATTERN_FOLD && letter ? c ^ 0x20 : c;
}

/* Whether \d, \W and the like have a character. */
static bool tcall_re_in_set_(uint32_t value, int32_t c)
{
    bool others = value & TCALL_RE_OTHERS_;
    return tcall_re_in_(value >> 1, c) != others;
}

/* Whether a class has a character; node: that of the class. */
static bool tcall_re_in_class_(const tcall_node_ *node, int32_t c,
                               int32_t other)
{
    uint32_t value = node->word >> TCALL_RE_VALUE_;
    const tcall_node_ *item = node + 1, *end = item + value / 2;
    bool in = false;
    for (; item < end && !in; item++) {
        int32_t low = (int32_t)(item->word >> TCALL_RE_VALUE_);
        int32_t high = (int32_t)item->arg;
        if ((item->word & 0xFF) == TCALL_RE_ITEM_SET_)
            in = c < TCALL_RE_CHARACTERS_ && tcall_re_in_set_((uint32_t)low, c);
        else
            in = (low <= c && c <= high) || (low <= other && other <= high);
    }
    return in != (bool)(value & TCALL_RE_OTHERS_);
}

/* Whether an atom matches a character. */
static bool tcall_re_matches_(const tcall_node_ *node, int32_t c, int32_t other)
{
    uint32_t value = node->word >> TCALL_RE_VALUE_;
    switch (node->word & 0xFF) {
    case TCALL_RE_CHAR_: return (int32_t)value == c || (int32_t)value == other;
    case TCALL_RE_SET_:
        return c < TCALL_RE_CHARACTERS_ && tcall_re_in_set_(value, c);
    case TCALL_RE_CLASS_: return tcall_re_in_class_(node, c, other);
    default: return false;
    }
}

/* The node after this one and its items. */
static const tcall_node_ *tcall_re_after_(const tcall_node_ *node)
{
    bool items = (node->word & 0xFF) == TCALL_RE_CLASS_;
    return node + 1 + (items ? node->word >> (TCALL_RE_VALUE_ + 1) : 0);
}

/* Whether an assertion holds between two characters, -1: an end of the text. */
static bool tcall_re_holds_(uint32_t which, int32_t before, int32_t next)
{
    bool boundary = tcall_re_in_(TCALL_RE_WORD_, before) !=
                    tcall_re_in_(TCALL_RE_WORD_, next);
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
    const tcall_node_ *node, *end = pattern->program + pattern->count - 1;
    bool again = true;
    while (again) {
        uint8_t *state = states;
        again = false;
        for (node = pattern->program; node < end;
             node = tcall_re_after_(node)) {
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
    const tcall_node_ *node = pattern->program;
    const tcall_node_ *end = node + pattern->count - 1;
    int32_t other = tcall_re_other_(c, pattern->flags);
    bool arrives = false;
    for (; node < end; node = tcall_re_after_(node)) {
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
