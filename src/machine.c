#pragma once
#include "machine.h"
#include "read.c"
#include "node.c"

/* ==========================================================================
 * >>machine
 *
 * A value begins: the frames around it push one frame for each node that is for
 * it, these push those that their rows bring. It ends: each answers, the last
 * first, and tells its parent. What rows do stands in >>rows and is reached
 * through the table that the target names; a shape is a run of one frame and
 * needs none of it.
 */

enum { /* what a frame's verdict is to its parent */
       TCALL_ROLE_AND_,
       TCALL_ROLE_COUNT_,
       TCALL_ROLE_IF_,
       TCALL_ROLE_THEN_,
       TCALL_ROLE_ELSE_,
       TCALL_ROLE_KEPT_ /* it is no frame, but a misfit that a group keeps */
};

enum {
    TCALL_FRAME_BAD_ = 1,    /* something within misses it */
    TCALL_FRAME_DEAD_ = 2,   /* it is of another type: what is within is none of
                              * its business */
    TCALL_FRAME_GROUP_ = 4,  /* it counts the verdicts of its branches */
    TCALL_FRAME_MISSED_ = 8, /* of a branch: its first misfit is noted */
    TCALL_FRAME_TIED_ = 16   /* of a group: several branches came as far */
};

#define TCALL_NO_FRAME_ 0xFFFF
/* Of frames: their misfits are nobody's business. */
#define TCALL_QUIET_ 0xFFFF

/* One node at work on a value. 24 bytes on 32 bits. */
struct tcall_frame_ {
    uint8_t role, flags;
    uint16_t parent; /* the frame that is told */
    uint32_t came;   /* members, by their index, the first 32 */
    const tcall_node *node;
    const tcall_row *by; /* the row that brought it; of a group: its own */
    uint16_t branch;     /* the frame that began its branch; 0: none */
    uint16_t count;      /* the member at hand; of a group: verdicts */
    uint32_t met;        /* required members that came */
};

/* A slot of the arena. A group is followed by the misfits that it keeps. */
union tcall_slot_ {
    tcall_frame_ frame;
    tcall_fault kept;
};

/* An object or array that is open. 16 bytes. */
struct tcall_open_ {
    uint16_t first, last; /* its run of frames */
    uint32_t count;       /* members or items so far */
    uint32_t at;          /* in the text */
    uint32_t names;       /* that no frame knows, by hash; all: look for two
                           * that are alike */
};

/* What rows do. */
struct tcall_rows {
    /* A value begins: pushes what the frames around have for it. */
    void (*enter)(tcall_machine *m);
    /* Pushes what the rows of the run bring. */
    void (*expand)(tcall_machine *m);
    /* An object or array opens. */
    void (*opens)(tcall_machine *m);
    /* A name is complete: returns whether a frame knows it. */
    bool (*name)(tcall_machine *m);
    /* A value is complete. */
    void (*ends)(tcall_machine *m, uint8_t types);
    /* The types that the run admits. */
    uint8_t (*admitted)(tcall_machine *m);
    /* Takes the member at hand back, if it may be absent. Returns its name as
     * its schema has it, or NULL. */
    const char *(*drop)(tcall_machine *m);
};

TCALL_SHARED_ bool tcall_machine_going_(const tcall_machine *m)
{
    return m->syntax.error == TCALL_OK;
}

/* Ends the reading. The first error stays. */
TCALL_SHARED_ void tcall_machine_stop_(tcall_machine *m, int error)
{
    if (!tcall_machine_going_(m))
        return;
    m->error = m->syntax.error = error;
    m->syntax.halt = true;
}

/* Takes so many steps off the budget. */
TCALL_SHARED_ void tcall_machine_costs_(tcall_machine *m, size_t steps)
{
    if (m->steps < 0 || steps > (uint32_t)m->steps)
        tcall_machine_stop_(m, TCALL_E_BUDGET);
    else
        m->steps -= (int32_t)steps;
}

/* The rest of the arena. */
TCALL_SHARED_ void *tcall_machine_rest_(const tcall_machine *m, size_t *size)
{
    char *from =
        m->fit.place ? (char *)(m->fit.place + 1) : (char *)&m->slot[m->frames];
    *size = (size_t)((char *)m->open - from);
    return from;
}

/* Notes how much of the arena is in use, and so many bytes more. */
TCALL_SHARED_ void tcall_machine_took_(tcall_machine *m, size_t more)
{
    size_t gap;
    tcall_machine_rest_(m, &gap);
    gap = gap > more ? gap - more : 0;
    if (m->gap > gap)
        m->gap = gap;
}

/* ---- checked text ---- */

/* Writes to it. One byte is left for its end. What is written may stand behind
 * it in the same memory. */
static void tcall_machine_put_(tcall_machine *m, const char *bytes, size_t len)
{
    if (len < m->is.size - m->len) {
        memmove(m->text + m->len, bytes, len);
        m->len += len;
    } else {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
    }
}

static inline void tcall_machine_put_char_(tcall_machine *m, char c)
{
    if (m->len + 1 < m->is.size)
        m->text[m->len++] = c;
    else
        tcall_machine_stop_(m, TCALL_E_MEMORY);
}

/* Writes a character that needs an escape. */
TCALL_NOINLINE_ static void tcall_machine_put_escaped_(tcall_machine *m,
                                                       uint8_t code)
{
    static const char letters[] TCALL_FLASH_ = "btn\0fr";
    char escape[] = "\\u0000";
    size_t len = 2;
    escape[1] = (char)code;
    if (code < 0x20)
        escape[1] =
            code >= 8 && code <= 13 ? TCALL_BYTE_(&letters[code - 8]) : (char)0;
    if (!escape[1]) {
        escape[1] = 'u';
        escape[4] = (char)('0' + (code >> 4));
        code &= 15;
        escape[5] = (char)(code < 10 ? '0' + code : 'a' + code - 10);
        len = 6;
    }
    tcall_machine_put_(m, escape, len);
}

/* Writes decoded bytes of a string. What was escaped comes alone. */
static void tcall_machine_put_decoded_(tcall_machine *m, const char *bytes,
                                       size_t len)
{
    uint8_t code = (uint8_t)*bytes;
    if (len > 1) {
        tcall_machine_put_(m, bytes, len);
    } else if (code >= 0x20 && code != '"' && code != '\\') {
        tcall_machine_put_char_(m, (char)code);
    } else {
        tcall_machine_put_escaped_(m, code);
        if (!code && m->is.for_c)
            tcall_machine_stop_(m, TCALL_E_NUL);
    }
}

/* ---- frames ---- */

/* Takes the next slot. Where the arena is full it is one that counts for
 * nothing. */
static tcall_slot_ *tcall_machine_slot_(tcall_machine *m)
{
    tcall_slot_ *slot = &m->slot[m->frames]; /* one more is always there */
    size_t gap = (size_t)((char *)m->open - (char *)(slot + 1));
    if ((char *)(slot + 2) > (char *)(m->open - 1) ||
        m->frames == TCALL_NO_FRAME_ - 1)
        tcall_machine_stop_(m, TCALL_E_MEMORY);
    else
        m->frames++;
    m->gap = m->gap < gap ? m->gap : gap;
    return slot;
}

/* Pushes a frame that belongs to no branch. */
TCALL_SHARED_ tcall_frame_ *tcall_machine_push_(tcall_machine *m,
                                                const tcall_node *node,
                                                const tcall_row *by,
                                                uint16_t parent)
{
    tcall_frame_ *f = &tcall_machine_slot_(m)->frame;
    memset(f, 0, sizeof *f); /* its role is AND */
    f->parent = parent;
    f->node = node;
    f->by = by;
    f->count = TCALL_NO_FRAME_;
    if (node->rows && node->rows->on <= TCALL_ON_DEPENDENT_)
        m->brings = true;
    return f;
}

/* Notes a fault. */
TCALL_SHARED_ void tcall_machine_note_(tcall_machine *m,
                                       const tcall_fault *fault)
{
    if (!m->error)
        m->error = TCALL_E_INVALID;
    if (m->fault_count < TOOLCALL_MAX_FAULTS)
        m->faults[m->fault_count] = *fault;
    if (m->fault_count < UINT8_MAX)
        m->fault_count++;
}

/* The text at hand. */
TCALL_SHARED_ tcall_str tcall_machine_hand_(const tcall_machine *m)
{
    return tcall_slice_(m->text + m->token, m->len - m->token);
}

/* ---- shapes ---- */

/* The keywords of TCALL_MISFITS. */
#define TCALL_ON_UNKNOWN_ TCALL_ON_OTHERS_
static const uint8_t tcall_misfit_keys_[] TCALL_FLASH_ = {
    0,
#define TCALL_X_(NAME, keyword, wrong, remedy) TCALL_ON_##NAME##_,
    TCALL_MISFITS(TCALL_X_)
#undef TCALL_X_
};

/* Notes what is wrong with the value at hand, or what it is in. */
static void tcall_machine_misfit_(tcall_syntax_ *s, uint8_t code,
                                  uint8_t levels)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    const tcall_place_ *place = m->fit.place;
    bool object =
        code >= TCALL_MISFIT_REQUIRED && code <= TCALL_MISFIT_DUPLICATE;
    size_t count = m->fit.length - m->syntax.followed;
    tcall_fault fault;
    if (object || levels < m->fit.levels)
        place--;
    if (code == TCALL_MISFIT_REQUIRED)
        count = place->index;
    memset(&fault, 0, sizeof fault);
    fault.keyword = TCALL_FETCH_8_(tcall_misfit_keys_ + code);
    fault.count = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
    fault.at = levels < m->fit.levels ? m->open->at : m->token;
    fault.shape = place->what;
    tcall_machine_note_(m, &fault);
}

/* The root begins. */
static void tcall_machine_target_(tcall_machine *m, const tcall_target *target)
{
    if (target->node) {
        tcall_machine_push_(m, target->node, NULL, TCALL_NO_FRAME_);
    } else if (target->object || target->shape) {
        m->fit.object = target->object;
        tcall_fit_init_(&m->fit, (tcall_place_ *)(void *)m->slot,
                        target->object ? &tcall_root_ : target->shape,
                        target->out);
    } else if (target->rows) { /* a schema that was refused accepts nothing */
        tcall_machine_stop_(m, TCALL_E_SCHEMA);
    }
}

/* A value with a shape begins. What no shape is for is read all the same, as is
 * what is kept as its text. */
static void tcall_machine_fit_(tcall_machine *m, char first)
{
    tcall_ask_ ask;
    if (!m->inner)
        tcall_fit_next_(&m->syntax, &m->fit);
    ask = tcall_fit_begin_(&m->syntax, &m->fit, first, UINT8_MAX);
    m->heard = ask != TCALL_SKIP_;
    if (ask != TCALL_HEAR_ &&
        m->types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY))
        m->skip = (uint8_t)(m->syntax.depth + 1);
}

/* A value with a shape is complete, but an object or list: it is checked and
 * stored. */
static void tcall_machine_fits_(tcall_machine *m, uint8_t types)
{
    tcall_str text = tcall_machine_hand_(m);
    tcall_num_ number = {NULL, NULL, 0, 0, false, false};
    if (types & TCALL_SHAPE_NUMBER)
        number = tcall_num_read_(text);
    if (tcall_place_kind_(m->fit.place) == TCALL_KIND_JSON) {
        m->fit.length = 0;
        m->fit.nul = false;
        tcall_fit_data_(&m->fit, text.ptr, text.len);
    }
    tcall_fit_note_(&m->syntax,
                    tcall_fit_ends_(&m->syntax, &m->fit, types, &number),
                    m->fit.levels);
}

/* An object or array with a shape is complete, or is skipped. */
static void tcall_machine_fit_closes_(tcall_machine *m, uint8_t types)
{
    if (!m->skip) {
        tcall_fit_closes_(&m->syntax, &m->fit, types == TCALL_SHAPE_OBJECT);
    } else if (m->skip == m->syntax.depth + 1) {
        m->skip = 0;
        if (m->heard)
            tcall_machine_fits_(m, types);
    }
}

/* ---- two that are alike ---- */

/* The hash of a value or name in the text. */
typedef uint32_t (*tcall_hash_of_)(const char *at);
typedef bool (*tcall_alike_)(tcall_machine *m, const char *a, const char *b);

typedef struct tcall_seen_ {
    uint32_t hash, at; /* 0: free */
} tcall_seen_;

/* Returns the name or item after this one. */
static const char *tcall_machine_after_(const char *container, const char *at)
{
    return tcall_text_after_(
        tcall_text_skip_(*container == '{' ? tcall_text_value_(at) : at));
}

/* Notes the name or item at an offset. Returns whether one that is alike was
 * noted before. */
static bool tcall_machine_saw_(tcall_machine *m, tcall_seen_ *seen,
                               size_t slots, uint32_t hash, uint32_t at,
                               tcall_alike_ alike)
{
    const char *text = m->text + m->open->at;
    size_t k = hash / 7 % slots; /* those of one table share a remainder */
    for (; seen[k].at; k = k + 1 == slots ? 0 : k + 1) {
        tcall_machine_costs_(m, 1);
        if (!tcall_machine_going_(m) ||
            (seen[k].hash == hash && alike(m, text + at, text + seen[k].at)))
            return true;
    }
    seen[k].hash = hash;
    seen[k].at = at;
    return false;
}

/* Returns the second of two names, or items, of the container that ends which
 * are alike, or NULL. They go into a table in the rest of the arena; where it
 * is too small for all of them, into several, one after the other. */
TCALL_SHARED_ const char *tcall_machine_twice_(tcall_machine *m,
                                               tcall_hash_of_ hash_of,
                                               tcall_alike_ alike)
{
    const char *text = m->text + m->open->at, *at = NULL;
    uint16_t frames = m->frames;
    size_t size, slots = 2 * (size_t)m->open->count, tables, table;
    tcall_seen_ *seen = (tcall_seen_ *)tcall_machine_rest_(m, &size);
    if (slots > size / 2 / sizeof *seen)
        slots = size / 2 / sizeof *seen;
    size = slots * sizeof *seen / sizeof *m->slot + 1;
    if (slots < 4 || size >= (size_t)(TCALL_NO_FRAME_ - frames)) {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
        return NULL;
    }
    m->frames = (uint16_t)(frames + size); /* what alike needs lies behind it */
    tables = (2 * (size_t)m->open->count - 1) / slots + 1;
    for (table = 0; !at && table < tables && tcall_machine_going_(m); table++) {
        memset(seen, 0, slots * sizeof *seen);
        for (at = tcall_text_first_(text); at;
             at = tcall_machine_after_(text, at)) {
            uint32_t hash = hash_of(at);
            if (hash % tables == table &&
                tcall_machine_saw_(m, seen, slots, hash, (uint32_t)(at - text),
                                   alike))
                break;
        }
    }
    m->frames = frames;
    return at;
}

/* Names have one spelling in the text. */
static uint32_t tcall_machine_name_hash_(const char *at)
{
    return tcall_hash_(tcall_text_verbatim_(at));
}

static bool tcall_machine_same_name_(tcall_machine *m, const char *a,
                                     const char *b)
{
    tcall_str name = tcall_text_verbatim_(a);
    (void)m;
    return memcmp(name.ptr, b, name.len) == 0;
}

/* ---- what the recogniser tells ---- */

/* The type of a value, known by its first character; whether a number is whole
 * shows at its end. */
static uint8_t tcall_machine_types_(char first)
{
    return tcall_types_from_(first) & (uint8_t)~TCALL_SHAPE_INTEGER;
}

/* A name is complete: which frames know it? Of the others mostly a hash says
 * that they did not come before. */
static void tcall_machine_name_ends_(tcall_machine *m)
{
    tcall_open_ *open = m->open;
    bool known = false;
    m->named = false;
    m->first = m->frames;
    if (m->fit.place && !m->skip)
        known = (m->fit.place - 1)->index != TCALL_NO_MEMBER_;
    else if (open->last > open->first)
        known = m->is.target.rows->name(m);
    if (!known) {
        uint32_t bit = (uint32_t)1
                       << (tcall_hash_(tcall_machine_hand_(m)) >> 27);
        open->names = open->names & bit ? UINT32_MAX : open->names | bit;
    }
}

/* A name begins in the text: after a comma, but for the first. */
static void tcall_machine_name_begins_(tcall_machine *m)
{
    if (m->open->count++)
        tcall_machine_put_char_(m, ',');
    m->key = m->token = (uint32_t)m->len;
    m->named = true;
    m->fit.length = 0;
}

/* A name comes: it is written, and looked for when it is whole. */
static bool tcall_machine_name_(tcall_syntax_ *s, const char *name, size_t len,
                                bool last)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    bool first = !m->named;
    if (first)
        tcall_machine_name_begins_(m);
    if (m->fit.place && !m->skip && tcall_machine_going_(m))
        tcall_fit_name_(s, &m->fit, name, len, last);
    else
        m->fit.length += len; /* what is written may stand where it came */
    if (first && last && name == s->from + 1) { /* mostly it has its quotes */
        tcall_machine_put_(m, name - 1, len + 2);
    } else {
        if (first)
            tcall_machine_put_char_(m, '"');
        if (len)
            tcall_machine_put_decoded_(m, name, len);
        if (last)
            tcall_machine_put_char_(m, '"');
    }
    if (last && tcall_machine_going_(m))
        tcall_machine_name_ends_(m);
    return true;
}

/* A value begins in the text: after a colon, or, as an item, after a comma. */
static inline void tcall_machine_item_(tcall_machine *m)
{
    if (m->syntax.depth && !m->inner) {
        if (m->syntax.object)
            tcall_machine_put_char_(m, ':');
        else if (m->open->count++)
            tcall_machine_put_char_(m, ',');
    }
    m->token = (uint32_t)m->len;
}

/* Pushes the frames of a value. Mostly its name said already which node alone
 * is for it. */
static inline void tcall_machine_enter_(tcall_machine *m)
{
    const tcall_open_ *open = m->open;
    m->first = m->frames;
    if (m->sole) {
        const tcall_frame_ *f = &m->slot[open->first].frame;
        uint16_t branch = f->branch;
        tcall_machine_push_(m, m->sole, f->node->rows, open->first)->branch =
            branch;
        m->sole = NULL;
    } else if (!m->syntax.depth) {
        tcall_machine_target_(m, &m->is.target);
    } else if (open->last > open->first) {
        m->is.target.rows->enter(m);
    }
    if (m->brings)
        m->is.target.rows->expand(m);
}

/* An object or array opens: a level for it, from the end of the arena down. */
static void tcall_machine_open_(tcall_machine *m, char first)
{
    tcall_open_ *open = m->open - 1;
    if ((char *)&m->slot[m->frames + 2] > (char *)(open - 1) ||
        (m->fit.place && (char *)(m->fit.place + 2) > (char *)(open - 1))) {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
        return;
    }
    m->open = open;
    tcall_machine_took_(m, 0);
    open->first = m->first;
    open->last = m->frames;
    open->count = 0;
    open->at = m->token;
    open->names = 0;
    tcall_machine_put_char_(m, first);
    if (m->frames > m->first)
        m->is.target.rows->opens(m);
    m->types = 0; /* what ends next without a beginning is a container */
}

/* A value begins: its frames are pushed and its first character is written. */
static tcall_ask_ tcall_machine_begin_(tcall_syntax_ *s, char first)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    if (!tcall_machine_going_(m))
        return TCALL_SKIP_;
    m->types = tcall_machine_types_(first);
    tcall_machine_item_(m);
    tcall_machine_enter_(m);
    m->fit.length = 0;
    m->heard = m->heard && m->skip;
    if (m->fit.place && !m->skip)
        tcall_machine_fit_(m, first);
    if (first == '"') {
        tcall_machine_put_char_(m, '"');
    } else if (m->types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY) &&
               s->depth < TOOLCALL_MAX_DEPTH) {
        tcall_machine_open_(m, first);
    }
    m->inner = false;
    return TCALL_HEAR_;
}

/* A part of a scalar comes: it is written, and a text of a shape also stored.
 */
static void tcall_machine_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    if (!tcall_machine_going_(m))
        return;
    if (m->types != TCALL_SHAPE_STRING) {
        tcall_machine_put_(m, bytes, len);
        return;
    }
    if (m->heard && !m->skip)
        tcall_fit_data_(&m->fit, bytes, len);
    else
        m->fit.length += len;
    tcall_machine_put_decoded_(m, bytes, len);
}

/* Returns the types of the number at hand. A short whole one needs no decimal
 * arithmetic, here and where it is held against a bound. */
static uint8_t tcall_machine_number_(tcall_machine *m)
{
    tcall_str text = tcall_machine_hand_(m);
    size_t minus = *text.ptr == '-', i = minus;
    tcall_num_ num;
    int32_t whole = 0;
    for (; i < text.len && i < 9 && tcall_is_digit_(text.ptr[i]); i++)
        whole = whole * 10 + (text.ptr[i] - '0');
    m->whole = minus ? -whole : whole;
    m->known = i == text.len;
    if (m->known)
        return TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER;
    num = tcall_num_read_(text);
    if (m->is.for_c && !tcall_num_in_range_(&num))
        tcall_machine_stop_(m, TCALL_E_RANGE);
    return tcall_num_integral_(&num) ? TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER
                                     : TCALL_SHAPE_NUMBER;
}

/* Reads what stands in the text itself, which is written over what was read. */
static void tcall_machine_again_(tcall_machine *m)
{
    uint32_t from = m->token + 1, end = m->again;
    m->again = 0;
    m->inner = true;
    m->mended = true;
    m->syntax.state = TCALL_AT_VALUE_;
    tcall_syntax_feed_(&m->syntax, m->text + from, end - from);
    m->mended = false;
}

/* A scalar is complete: it means another value, or it is checked. */
static void tcall_machine_scalar_(tcall_machine *m)
{
    uint8_t types = m->types;
    bool shaped = m->heard && !m->skip, asked = shaped || m->frames > m->first;
    if (types == TCALL_SHAPE_STRING)
        tcall_machine_put_char_(m, '"');
    m->types = 0;
    m->text[m->len] = '\0';
    if (m->is.coerce && asked && !m->mended && tcall_machine_going_(m) &&
        types & (TCALL_SHAPE_STRING | TCALL_SHAPE_NULL))
        types = m->is.coerce(m, types);
    if (types == TCALL_SHAPE_NUMBER && (asked || m->is.for_c))
        types = tcall_machine_number_(m);
    if (!tcall_machine_going_(m))
        return;
    if (m->again)
        tcall_machine_again_(m);
    else if (!types)
        m->frames = m->first; /* the value was left out */
    else if (shaped)
        tcall_machine_fits_(m, types);
    else if (m->frames > m->first)
        m->is.target.rows->ends(m, types);
    m->frames = m->first;
}

/* An object or array is complete: names are looked at once more where their
 * hashes agree, then it is checked. */
static void tcall_machine_closes_(tcall_machine *m)
{
    const tcall_open_ *open = m->open;
    bool object = m->text[open->at] == '{';
    uint8_t types = object ? TCALL_SHAPE_OBJECT : TCALL_SHAPE_ARRAY;
    tcall_machine_put_char_(m, object ? '}' : ']');
    if (!tcall_machine_going_(m))
        return;
    m->text[m->len] = '\0';
    m->token = open->at;
    m->first = open->first;
    if (object && open->names == UINT32_MAX &&
        tcall_machine_twice_(m, tcall_machine_name_hash_,
                             tcall_machine_same_name_))
        tcall_machine_stop_(m, TCALL_E_DUPLICATE);
    if (m->fit.place)
        tcall_machine_fit_closes_(m, types);
    else if (m->frames > m->first)
        m->is.target.rows->ends(m, types);
    m->frames = m->first;
    m->open++;
}

/* A value is complete, whatever it is. */
static void tcall_machine_ends_(tcall_syntax_ *s)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    if (!tcall_machine_going_(m))
        return;
    if (m->types)
        tcall_machine_scalar_(m);
    else
        tcall_machine_closes_(m);
}

static const tcall_fit_user_ tcall_machine_user_ TCALL_FLASH_ = {
    {tcall_machine_name_, tcall_machine_begin_, tcall_machine_data_,
     tcall_machine_ends_},
    tcall_machine_misfit_};

/* ---- coercion ---- */

/* Whether the content of a string is one JSON value, and nothing before it. */
static bool tcall_machine_is_json_(const char *at, const char *end)
{
    tcall_syntax_ inner;
    tcall_syntax_begin_(&inner, &tcall_syntax_nobody_);
    while (at < end && !inner.error) {
        char bytes[4];
        const char *stop = (const char *)memchr(at, '\\', (size_t)(end - at));
        if (stop == at)
            tcall_syntax_feed_(&inner, bytes, tcall_text_char_(&at, bytes));
        else
            at += tcall_syntax_feed_(&inner, at,
                                     (size_t)((stop ? stop : end) - at));
    }
    return tcall_syntax_end_(&inner) == TCALL_OK;
}

/* Returns the types of the number that is the content of a string, 0: it is
 * none. */
static uint8_t tcall_machine_number_meant_(tcall_str text)
{
    uint8_t state = TCALL_N_START_;
    tcall_num_ num;
    size_t i;
    for (i = 0; i < text.len && state; i++)
        state = tcall_number_next_(state, text.ptr[i]);
    if (!tcall_number_ends_(state))
        return 0;
    num = tcall_num_read_(text);
    if (!tcall_num_in_range_(&num))
        return 0;
    return state > TCALL_N_FRACTION_ || !tcall_num_integral_(&num)
               ? TCALL_SHAPE_NUMBER
               : TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER;
}

/* Returns the types of the JSON value that the string at hand holds, 0: none.
 */
static uint8_t tcall_machine_meaning_(const tcall_machine *m)
{
    const char *at = m->text + m->token + 1, *end = m->text + m->len - 1;
    tcall_str text = tcall_slice_(at, (size_t)(end - at));
    if (*at == '{' || *at == '[')
        return tcall_machine_is_json_(at, end) ? tcall_types_from_(*at) : 0;
    if ((text.len == 4 && (*at | 0x20) == 't' &&
         memcmp(at + 1, "rue", 3) == 0) ||
        (text.len == 5 && (*at | 0x20) == 'f' &&
         memcmp(at + 1, "alse", 4) == 0))
        return TCALL_SHAPE_BOOLEAN;
    return tcall_machine_number_meant_(text);
}

/* Notes a coercion; those beyond TCALL_COERCIONS_ are only counted. */
static void tcall_machine_coerced_(tcall_machine *m, uint32_t at, uint8_t how,
                                   const char *name)
{
    if (m->coercion_count < TCALL_COERCIONS_) {
        m->coercions[m->coercion_count].at = at;
        m->coercions[m->coercion_count].how = how;
        m->coercions[m->coercion_count].name = name;
    }
    if (m->coercion_count < UINT8_MAX)
        m->coercion_count++;
}

/* Decodes the string at hand, which holds an object or array, where it stands,
 * to be read again. */
static void tcall_machine_decode_(tcall_machine *m)
{
    char *to = m->text + m->token + 1;
    const char *at = to, *end = m->text + m->len - 1;
    while (at < end) {
        char bytes[4];
        size_t len = tcall_text_char_(&at, bytes);
        memcpy(to, bytes, len);
        to += len;
    }
    m->again = (uint32_t)(to - m->text);
    m->len = m->token;
    m->frames = m->first;
}

/* The string at hand becomes the scalar that it holds. */
static void tcall_machine_bare_(tcall_machine *m)
{
    char *text = m->text + m->token;
    m->len -= 2;
    memmove(text, text + 1, m->len - m->token);
    if (*text == 'T' || *text == 'F')
        *text = (char)(*text | 0x20);
    m->text[m->len] = '\0';
    if (m->fit.place)
        tcall_fit_begin_(&m->syntax, &m->fit, *text, UINT8_MAX);
}

/* Takes the member at hand back: it is null, and may be absent. */
static bool tcall_machine_drops_(tcall_machine *m)
{
    const tcall_open_ *open = m->open;
    const char *name = NULL;
    if (m->syntax.depth && m->syntax.object)
        name = m->fit.place ? tcall_place_drop_(m->fit.place - 1)
                            : m->is.target.rows->drop(m);
    if (!name)
        return false;
    m->len = m->key - (--m->open->count > 0);
    tcall_machine_coerced_(
        m, open->at, m->fit.place ? TCALL_COERCED_LEFT_ : TCALL_COERCED_ABSENT_,
        name);
    return true;
}

/* Returns the types that the value at hand may have. */
static uint8_t tcall_machine_admitted_(tcall_machine *m)
{
    const tcall_shape *shape;
    uint8_t types;
    if (!m->fit.place)
        return m->is.target.rows->admitted(m);
    shape = (const tcall_shape *)m->fit.place->what;
    types = TCALL_FETCH_8_(&shape->types);
    return types & TCALL_SHAPE_NUMBER ? types | TCALL_SHAPE_INTEGER : types;
}

uint8_t tcall_coerce(tcall_machine *m, uint8_t types)
{
    uint8_t admitted, meant;
    char first = m->text[m->token + 1];
    if (m->is.object && !m->syntax.depth)
        return types; /* what is no object is for lenient */
    if (m->frames == m->first + 1 &&
        m->slot[m->first].frame.node->types == types)
        return types; /* mostly it is what alone may come */
    admitted = tcall_machine_admitted_(m);
    if (admitted & types)
        return types;
    if (types == TCALL_SHAPE_NULL)
        return tcall_machine_drops_(m) ? 0 : types;
    meant = tcall_machine_meaning_(m);
    if (!(meant & admitted))
        return types;
    tcall_machine_coerced_(m, m->token,
                           first == 'T' || first == 'F' ? TCALL_COERCED_WORD_
                                                        : TCALL_COERCED_TEXT_,
                           NULL);
    if (meant & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY))
        tcall_machine_decode_(m);
    else
        tcall_machine_bare_(m);
    return meant & (uint8_t)~TCALL_SHAPE_INTEGER;
}

/* ---- the door ---- */

/* The slots and open containers that are always left. */
#define TCALL_MACHINE_SPARE_ (2 * sizeof(tcall_slot_) + 2 * sizeof(tcall_open_))

/* Returns how many bytes of arena would have done. */
TCALL_SHARED_ size_t tcall_machine_used_(const tcall_machine *machine)
{
    size_t words = machine->is.arena_size / sizeof(void *);
    return words * sizeof(void *) - machine->gap + TCALL_MACHINE_SPARE_;
}

int tcall_machine_feed(tcall_machine *machine, const char *bytes, size_t len)
{
    tcall_syntax_ *s = &machine->syntax;
    size_t at = 0;
    if (len == 1 && tcall_syntax_plain_byte_(s, bytes))
        at = 1;
    while (at < len && !s->error)
        at += tcall_syntax_feed_(s, bytes + at, len - at);
    machine->at += at;
    if (s->error)
        machine->error = s->error;
    return machine->error;
}

int tcall_machine_end(tcall_machine *machine)
{
    int error = tcall_syntax_end_(&machine->syntax);
    bool whole = !error || error == TCALL_E_DUPLICATE;
    if (whole && machine->is.object && machine->len && *machine->text != '{')
        machine->error = TCALL_E_NOT_OBJECT;
    else if (error)
        machine->error = error;
    else if (machine->failed && !machine->error)
        machine->error = TCALL_E_INVALID;
    return machine->error;
}

#ifdef TOOLCALL_JSMN

/* Reads a whole text by jsmn's tokens, which lie at the beginning of the arena.
 * Returns whether that went well; else it has to be read from the beginning.
 */
static bool tcall_machine_tokens_(tcall_machine *machine, tcall_str text)
{
    jsmntok_t *tok = (jsmntok_t *)machine->is.arena;
    size_t size = machine->is.arena_size / sizeof *tok;
    jsmn_parser parser;
    int count;
    if (machine->error || text.len > INT_MAX)
        return false;
    jsmn_init(&parser);
    count = jsmn_parse(&parser, text.ptr, text.len, tok,
                       (unsigned)(size < INT_MAX ? size : INT_MAX));
    size = sizeof(void *);
    size = ((size_t)count * sizeof *tok + size - 1) / size * size;
    if (count <= 0 || machine->gap < size + TCALL_MACHINE_SPARE_)
        return false;
    machine->gap -= size;
    machine->slot = (tcall_slot_ *)(void *)((char *)tok + size);
    machine->at = text.len;
    return tcall_syntax_tokens_(&machine->syntax, text, tok, count);
}

#endif

/* Reads a whole text with a new machine: where the arena has room for jsmn's
 * tokens, and they are right, by these. Returns what tcall_machine_end does. */
TCALL_SHARED_ int tcall_machine_read_(tcall_machine *machine,
                                      const tcall_machine_desc *desc,
                                      tcall_str text)
{
    tcall_machine_init(machine, desc);
#ifdef TOOLCALL_JSMN
    if (tcall_machine_tokens_(machine, text))
        return tcall_machine_end(machine);
    tcall_machine_init(machine, desc);
#endif
    tcall_machine_feed(machine, text.ptr, text.len);
    return tcall_machine_end(machine);
}

int tcall_machine_init(tcall_machine *machine, const tcall_machine_desc *desc)
{
    size_t words = desc->arena_size / sizeof(void *);
    memset(machine, 0, offsetof(tcall_machine, is));
    machine->syntax.user = &tcall_machine_user_.syntax;
    machine->is = *desc;
    machine->text = desc->text;
    machine->slot = (tcall_slot_ *)desc->arena;
    machine->open = NULL; /* C does not define NULL + 0 */
    if (desc->arena)
        machine->open = (tcall_open_ *)(void *)((void **)desc->arena + words);
    machine->steps = TOOLCALL_MAX_STEPS;
    machine->gap = words * sizeof(void *);
    if (!desc->text || !desc->arena ||
        (desc->target.node && !desc->target.rows))
        tcall_machine_stop_(machine, TCALL_E_USAGE);
    else if (!desc->size || words * sizeof(void *) < TCALL_MACHINE_SPARE_)
        tcall_machine_stop_(machine, TCALL_E_MEMORY);
    return machine->error;
}
