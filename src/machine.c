#pragma once
#include "machine.h"
#include "node.c"

/* ==========================================================================
 * >>machine
 *
 * The recogniser tells of names and values; each is written as checked text.
 * Who is at work on values, the rows of a schema or a shape, is told of them
 * when they begin and when they are complete, and reads them in that text.
 */

enum { /* what a frame's verdict is to its parent */
       TCALL_ROLE_AND_,
       TCALL_ROLE_COUNT_, /* also of if */
       TCALL_ROLE_THEN_,
       TCALL_ROLE_ELSE_,
       TCALL_ROLE_KEPT_, /* it is no frame, but a misfit that a group keeps */
       TCALL_ROLE_TIED_  /* the same, and several branches came as far */
};

enum {
    TCALL_FRAME_BAD_ = 1,   /* something within misses it */
    TCALL_FRAME_DEAD_ = 2,  /* it is of another type: what is within is none of
                             * its business */
    TCALL_FRAME_GROUP_ = 4, /* it counts the verdicts of its branches */
    TCALL_FRAME_MISSED_ = 8 /* of a branch: its first misfit is noted */
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
    uint32_t names;       /* that nobody knows, by hash; all: look for two that
                           * are alike */
};

/* Who is at work on values. */
struct tcall_rows {
    /* A value begins. */
    void (*begins)(tcall_machine *m);
    /* A name is complete: returns whether it is known. */
    bool (*name)(tcall_machine *m);
    /* A value of these types is complete. */
    void (*ends)(tcall_machine *m, uint8_t types);
    /* Returns the types that the value at hand may have. */
    uint8_t (*admitted)(tcall_machine *m);
    /* Takes the member at hand back, if it may be absent. Returns its name, or
     * NULL. */
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

/* The text at hand. */
TCALL_SHARED_ tcall_str tcall_machine_hand_(const tcall_machine *m)
{
    return tcall_slice_(m->text + m->token, m->len - m->token);
}

static bool tcall_machine_is_container_(uint8_t types)
{
    return (types & (TCALL_SHAPE_OBJECT | TCALL_SHAPE_ARRAY)) != 0;
}

/* ---- the arena ---- */

/* What is always left, so that a frame can be written to, and a level. */
#define TCALL_MACHINE_SPARE_ (sizeof(tcall_slot_) + sizeof(tcall_open_))
/* The least that a shape takes of it. */
#define TCALL_MACHINE_FIT_ (sizeof(tcall_fit_) + sizeof(tcall_place_))

/* The rest of the arena. */
TCALL_SHARED_ void *tcall_machine_rest_(const tcall_machine *m, size_t *size)
{
    char *from =
        m->fit ? (char *)(m->fit->place + 1) : (char *)&m->slot[m->frames];
    *size = (size_t)((char *)m->open - from);
    return from;
}

/* Returns whether so many bytes of it are free, and notes them as used. */
TCALL_SHARED_ bool tcall_machine_takes_(tcall_machine *m, size_t size)
{
    size_t rest;
    tcall_machine_rest_(m, &rest);
    if (rest < size + TCALL_MACHINE_SPARE_) {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
        return false;
    }
    rest -= size + TCALL_MACHINE_SPARE_;
    m->gap = rest < m->gap ? rest : m->gap;
    return true;
}

/* ---- what is noted ----
 *
 * At the end of the arena lie the coercions and, behind them, the faults, in
 * the order in which they were found.
 */

/* Makes room before a place there: what lies between it and the innermost
 * container, that included, moves down. Returns the room, or NULL. */
static void *tcall_machine_insert_(tcall_machine *m, const void *before,
                                   size_t size)
{
    char *open = (char *)m->open;
    size_t len = (size_t)((const char *)before - open);
    if (!tcall_machine_takes_(m, size))
        return NULL;
    memmove(open - size, open, len);
    m->open = (tcall_open_ *)(void *)(open - size);
    return open - size + len;
}

/* Notes a fault; those beyond TOOLCALL_MAX_FAULTS are only counted. */
TCALL_SHARED_ void tcall_machine_note_(tcall_machine *m,
                                       const tcall_fault *fault)
{
    if (!m->error)
        m->error = TCALL_E_INVALID;
    if (m->fault_count < TOOLCALL_MAX_FAULTS) {
        tcall_fault *kept = (tcall_fault *)tcall_machine_insert_(
            m, m->faults + m->fault_count, sizeof *kept);
        if (!kept)
            return;
        *kept = *fault;
        m->faults--;
    }
    if (m->fault_count < UINT8_MAX)
        m->fault_count++;
}

/* Returns the coercions that are kept, and how many. */
TCALL_SHARED_ const tcall_coercion *
tcall_machine_coercions_(const tcall_machine *m, size_t *count)
{
    *count = m->coercion_count < TCALL_COERCIONS_ ? m->coercion_count
                                                  : TCALL_COERCIONS_;
    return (const tcall_coercion *)(const void *)m->faults - *count;
}

/* Notes a coercion; those beyond TCALL_COERCIONS_ are only counted. */
static void tcall_machine_coerced_(tcall_machine *m, uint32_t at, uint8_t how,
                                   const char *name)
{
    tcall_coercion coercion = {at, how, name}, *kept;
    if (m->coercion_count < TCALL_COERCIONS_) {
        kept =
            (tcall_coercion *)tcall_machine_insert_(m, m->faults, sizeof *kept);
        if (!kept)
            return;
        *kept = coercion;
    }
    if (m->coercion_count < UINT8_MAX)
        m->coercion_count++;
}

/* ---- checked text ---- */

/* Writes to it. One byte is left for its end. What is written may stand behind
 * it in the same memory. */
static void tcall_machine_put_(tcall_machine *m, const char *bytes, size_t len)
{
    if (len <= m->room - m->len) {
        memmove(m->text + m->len, bytes, len);
        m->len += len;
    } else {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
    }
}

static inline void tcall_machine_put_char_(tcall_machine *m, char c)
{
    if (m->len < m->room)
        m->text[m->len++] = c;
    else
        tcall_machine_stop_(m, TCALL_E_MEMORY);
}

/* Writes decoded bytes of a string. What was escaped comes alone. */
static void tcall_machine_put_decoded_(tcall_machine *m, const char *bytes,
                                       size_t len)
{
    uint8_t code = (uint8_t)*bytes;
    char escape[6];
    if (len == 1 && tcall_is_escaped_(*bytes)) {
        len = tcall_escape_(escape, *bytes);
        bytes = escape;
        m->escapes += (uint32_t)len - 1;
    }
    tcall_machine_put_(m, bytes, len);
    if (!code && m->is->for_c)
        tcall_machine_stop_(m, TCALL_E_NUL);
}

/* ---- faults of a shape ---- */

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
    const tcall_place_ *place = m->fit->place;
    bool object =
        code >= TCALL_MISFIT_REQUIRED && code <= TCALL_MISFIT_DUPLICATE;
    bool around = levels < m->fit->levels;
    size_t count = m->fit->length - m->syntax.followed;
    tcall_fault fault = {0,    TCALL_FETCH_8_(tcall_misfit_keys_ + code),
                         0,    around ? m->open->at : m->token,
                         NULL, NULL,
                         NULL};
    if (object || around)
        place--;
    if (code == TCALL_MISFIT_REQUIRED)
        count = place->index;
    fault.count = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
    fault.shape = place->what;
    tcall_machine_note_(m, &fault);
}

/* ---- two that are alike ---- */

/* Returns the name, or item, of the container at hand that is like one before
 * it, or NULL. The table lies in the rest of the arena, and behind it what
 * alike needs. */
TCALL_SHARED_ const char *tcall_machine_twice_(tcall_machine *m,
                                               tcall_hash_of_ hash_of,
                                               tcall_alike_ alike)
{
    const char *twice;
    const uint16_t frames = m->frames;
    const int32_t steps = m->steps;
    size_t size, taken;
    tcall_seen_ seen = {NULL, 2 * (size_t)m->open->count, 0};
    seen.slots = (uint32_t *)tcall_machine_rest_(m, &size);
    seen.steps = steps;
    if (seen.count > size / 2 / sizeof *seen.slots)
        seen.count = size / 2 / sizeof *seen.slots;
    taken = seen.count * sizeof *seen.slots / sizeof *m->slot + 1;
    if (seen.count < 2 || taken >= (size_t)(TCALL_NO_FRAME_ - frames)) {
        tcall_machine_stop_(m, TCALL_E_MEMORY);
        return NULL;
    }
    m->frames = (uint16_t)(frames + taken);
    twice =
        tcall_text_twice_(m->text + m->token, &seen, hash_of, alike, (void *)m);
    m->frames = frames;
    m->steps -= steps - seen.steps;
    tcall_machine_costs_(m, 0);
    return twice;
}

/* ---- what the recogniser tells ---- */

/* A name comes: it is written, and looked for when it is whole. Of those that
 * nobody knows mostly a hash says that they did not come before. */
static bool tcall_machine_name_(tcall_syntax_ *s, const char *name, size_t len,
                                bool last)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    uint32_t bit;
    if (!m->named) {
        if (m->open->count++)
            tcall_machine_put_char_(m, ',');
        m->key = m->token = (uint32_t)m->len;
        m->escapes = 0;
        tcall_machine_put_char_(m, '"');
    }
    m->named = !last;
    if (len)
        tcall_machine_put_decoded_(m, name, len);
    if (!last)
        return true;
    tcall_machine_put_char_(m, '"');
    m->first = m->frames;
    if (!tcall_machine_going_(m) ||
        (m->is->target.rows && m->is->target.rows->name(m)))
        return true;
    bit = (uint32_t)1 << (tcall_hash_(tcall_machine_hand_(m)) >> 27);
    m->open->names = m->open->names & bit ? UINT32_MAX : m->open->names | bit;
    return true;
}

/* An object or array opens: a level for it, from the end of the arena down. */
static void tcall_machine_open_(tcall_machine *m, char first)
{
    tcall_open_ open = {m->first, m->frames, 0, m->token, 0};
    if (!tcall_machine_takes_(m, sizeof open))
        return;
    *--m->open = open;
    tcall_machine_put_char_(m, first);
    m->types = 0; /* what ends next without a beginning is a container */
}

/* A value begins: after a colon, or, as an item, after a comma. */
static tcall_ask_ tcall_machine_begin_(tcall_syntax_ *s, char first)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    if (!tcall_machine_going_(m))
        return TCALL_SKIP_;
    if (s->depth && !m->inner) {
        if (s->object)
            tcall_machine_put_char_(m, ':');
        else if (m->open->count++)
            tcall_machine_put_char_(m, ',');
    }
    m->token = (uint32_t)m->len;
    m->escapes = 0;
    if (!s->object) /* else its name has begun the run */
        m->first = m->frames;
    m->types = s->types & (uint8_t)~TCALL_SHAPE_INTEGER;
    if (m->is->target.rows)
        m->is->target.rows->begins(m);
    if (first == '"')
        tcall_machine_put_char_(m, '"');
    else if (tcall_machine_is_container_(m->types) &&
             s->depth < TOOLCALL_MAX_DEPTH)
        tcall_machine_open_(m, first);
    m->inner = false;
    return TCALL_HEAR_;
}

/* A part of a scalar comes. */
static void tcall_machine_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    if (m->types == TCALL_SHAPE_STRING)
        tcall_machine_put_decoded_(m, bytes, len);
    else
        tcall_machine_put_(m, bytes, len);
}

/* Returns the types of the number at hand. */
static uint8_t tcall_machine_number_(tcall_machine *m)
{
    tcall_str text = tcall_machine_hand_(m);
    uint8_t within = m->syntax.within;
    bool whole = within <= TCALL_N_INTEGER_;
    tcall_num_ num;
    /* mostly the last digit says whether it is whole */
    if (within == TCALL_N_EXPONENT_ || text.len > 300 ||
        (!whole && m->text[m->len - 1] == '0')) {
        num = tcall_num_read_(text);
        whole = tcall_num_integral_(&num);
        if (m->is->for_c && !tcall_num_in_range_(&num))
            tcall_machine_stop_(m, TCALL_E_RANGE);
    }
    return whole ? TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER
                 : TCALL_SHAPE_NUMBER;
}

/* A scalar is complete. Returns its types, 0: it is done with. */
static uint8_t tcall_machine_scalar_(tcall_machine *m)
{
    uint8_t types = m->types;
    m->types = 0;
    if (types == TCALL_SHAPE_STRING)
        tcall_machine_put_char_(m, '"');
    m->text[m->len] = '\0';
    if (!tcall_machine_going_(m))
        return 0;
    if (types == TCALL_SHAPE_NUMBER)
        return tcall_machine_number_(m);
    if (types & (TCALL_SHAPE_STRING | TCALL_SHAPE_NULL) && m->is->coerce &&
        m->is->target.rows && !m->again)
        return m->is->coerce(m, types);
    return types;
}

/* An object or array is complete: names are looked at once more where their
 * hashes agree. Returns its type. */
static uint8_t tcall_machine_closes_(tcall_machine *m)
{
    const tcall_open_ *open = m->open;
    bool object = m->text[open->at] == '{';
    tcall_machine_put_char_(m, object ? '}' : ']');
    m->text[m->len] = '\0';
    m->token = open->at;
    m->first = open->first;
    if (open->names == UINT32_MAX && tcall_machine_going_(m) &&
        tcall_machine_twice_(m, NULL, NULL))
        tcall_machine_stop_(m, TCALL_E_DUPLICATE);
    return object ? TCALL_SHAPE_OBJECT : TCALL_SHAPE_ARRAY;
}

/* A value is complete. */
static void tcall_machine_ends_(tcall_syntax_ *s)
{
    tcall_machine *m = (tcall_machine *)(void *)s;
    bool scalar = m->types != 0;
    uint8_t types;
    if (!tcall_machine_going_(m))
        return;
    types = scalar ? tcall_machine_scalar_(m) : tcall_machine_closes_(m);
    if (m->is->target.rows && types && tcall_machine_going_(m))
        m->is->target.rows->ends(m, types);
    m->frames = m->first;
    if (!scalar)
        m->open++;
}

static const tcall_fit_user_ tcall_machine_user_ TCALL_FLASH_ = {
    {tcall_machine_name_, tcall_machine_begin_, tcall_machine_data_,
     tcall_machine_ends_},
    tcall_machine_misfit_};

/* ---- coercion ---- */

/* True and False are true and false. */
static char tcall_machine_lower_(char c)
{
    return c == 'T' || c == 'F' ? (char)(c | 0x20) : c;
}

/* Returns the content of the string at hand. */
static tcall_str tcall_machine_content_(const tcall_machine *m)
{
    return tcall_slice_(m->text + m->token + 1, m->len - m->token - 2);
}

/* Returns the types of the JSON value that the string at hand holds, with no
 * white space around it, 0: none, or none that a string may mean. */
TCALL_NOINLINE_ static uint8_t tcall_machine_meaning_(tcall_machine *m)
{
    tcall_str text = tcall_machine_content_(m);
    tcall_text_bytes_ bytes = tcall_text_bytes_in_(text);
    char first = tcall_machine_lower_(*text.ptr);
    uint8_t types = tcall_types_from_(first);
    tcall_str run = tcall_slice_(&first, 1);
    tcall_syntax_ inner;
    tcall_num_ num;
    if (!types || types & (TCALL_SHAPE_STRING | TCALL_SHAPE_NULL))
        return 0;
    bytes.escapes = true;
    tcall_syntax_begin_(&inner, &tcall_syntax_nobody_);
    for (bytes.at++; run.len && !inner.error; run = tcall_text_run_(&bytes)) {
        const char *end = run.ptr + run.len;
        if (tcall_is_space_(end[-1]) && !tcall_machine_is_container_(types))
            return 0;
        while (run.ptr < end && !inner.error)
            run.ptr +=
                tcall_syntax_feed_(&inner, run.ptr, (size_t)(end - run.ptr));
    }
    if (tcall_syntax_end_(&inner) != TCALL_OK)
        return 0;
    m->syntax.within = inner.within; /* of the number, as if it had come so */
    if (!(types & TCALL_SHAPE_NUMBER))
        return types;
    num = tcall_num_read_(text);
    if (!tcall_num_in_range_(&num))
        return 0;
    if (inner.within > TCALL_N_FRACTION_ || !tcall_num_integral_(&num))
        types = TCALL_SHAPE_NUMBER;
    return types;
}

/* Puts the value that the string at hand holds in its place. Returns the types
 * of a scalar; an object or array is read again, which writes it over the
 * string. */
static uint8_t tcall_machine_unquote_(tcall_machine *m, uint8_t types)
{
    tcall_str text = tcall_machine_content_(m);
    if (tcall_machine_is_container_(types)) {
        m->again = (uint32_t)tcall_text_decode_(m->text + m->token).len;
        m->len = m->token;
        m->frames = m->first;
        m->inner = true;
        m->syntax.state = TCALL_AT_VALUE_;
        m->syntax.halt = true;
        return 0;
    }
    m->len = m->token;
    tcall_machine_put_(m, text.ptr, text.len);
    m->text[m->token] = tcall_machine_lower_(m->text[m->token]);
    m->text[m->len] = '\0';
    return types & TCALL_SHAPE_NUMBER ? tcall_machine_number_(m) : types;
}

/* Takes the member at hand back: it is null, and may be absent. */
static bool tcall_machine_drops_(tcall_machine *m)
{
    tcall_open_ *open = m->open;
    const char *name = m->syntax.depth && m->syntax.object
                           ? m->is->target.rows->drop(m)
                           : NULL;
    if (!name)
        return false;
    m->len = m->key - (--open->count > 0);
    tcall_machine_coerced_(m, open->at,
                           m->fit ? TCALL_COERCED_LEFT_ : TCALL_COERCED_ABSENT_,
                           name);
    return true;
}

uint8_t tcall_coerce(tcall_machine *m, uint8_t types)
{
    uint8_t admitted, meant;
    char first = m->text[m->token + 1];
    if (m->is->object && !m->syntax.depth)
        return types; /* what is no object is for lenient */
    if (m->frames == m->first + 1 &&
        m->slot[m->first].frame.node->types == types)
        return types; /* mostly it is what alone may come */
    admitted = m->is->target.rows->admitted(m);
    if (admitted & types)
        return types;
    if (types == TCALL_SHAPE_NULL)
        return tcall_machine_drops_(m) ? 0 : types;
    meant = tcall_machine_meaning_(m);
    if (!(meant & admitted))
        return types;
    tcall_machine_coerced_(m, m->token,
                           first == tcall_machine_lower_(first)
                               ? TCALL_COERCED_TEXT_
                               : TCALL_COERCED_WORD_,
                           NULL);
    return tcall_machine_unquote_(m, meant);
}

/* ---- the door ---- */

/* Returns how many bytes of arena would have done, with a little for values
 * that are compared. */
TCALL_SHARED_ size_t tcall_machine_used_(const tcall_machine *machine)
{
    size_t words = machine->is->arena_size / sizeof(void *);
    return words * sizeof(void *) - machine->gap + TCALL_MACHINE_SPARE_;
}

int tcall_machine_feed(tcall_machine *machine, const char *bytes, size_t len)
{
    tcall_syntax_ *s = &machine->syntax;
    size_t at = 0;
    while (at < len && !s->error) {
        at += tcall_syntax_feed_(s, bytes + at, len - at);
        if (machine->again) {
            tcall_syntax_feed_(s, machine->text + machine->token + 1,
                               machine->again);
            machine->again = 0;
        }
    }
    machine->at += at;
    if (s->error)
        machine->error = s->error;
    return machine->error;
}

int tcall_machine_end(tcall_machine *machine)
{
    int error = tcall_syntax_end_(&machine->syntax);
    bool whole = !error || error == TCALL_E_DUPLICATE;
    if (whole && machine->is->object && machine->len && *machine->text != '{')
        machine->error = TCALL_E_NOT_OBJECT;
    else if (error)
        machine->error = error;
    return machine->error;
}

#ifdef TOOLCALL_JSMN

/* Reads a whole text by jsmn's tokens, which lie at the beginning of the arena.
 * Returns whether that went well; else it has to be read from the beginning, as
 * where a string is to be read again. */
static bool tcall_machine_tokens_(tcall_machine *machine, tcall_str text)
{
    jsmntok_t *tok = (jsmntok_t *)machine->is->arena;
    size_t size = machine->is->arena_size / sizeof *tok;
    jsmn_parser parser;
    int count;
    if (machine->error || text.len > INT_MAX)
        return false;
    jsmn_init(&parser);
    count = jsmn_parse(&parser, text.ptr, text.len, tok,
                       (unsigned)(size < INT_MAX ? size : INT_MAX));
    size = sizeof(void *);
    size = ((size_t)count * sizeof *tok + size - 1) / size * size;
    if (count <= 0 || machine->gap < size)
        return false;
    machine->gap -= size;
    machine->slot = (tcall_slot_ *)(void *)((char *)tok + size);
    machine->at = text.len;
    return tcall_syntax_tokens_(&machine->syntax, text, tok, count) &&
           !machine->again;
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
    const tcall_target *target = &desc->target;
    size_t words = desc->arena_size / sizeof(void *);
    size_t least =
        TCALL_MACHINE_SPARE_ + (target->object ? TCALL_MACHINE_FIT_ : 0);
    memset(machine, 0, sizeof *machine);
    machine->syntax.user = &tcall_machine_user_.syntax;
    machine->is = desc;
    machine->text = desc->text;
    machine->slot = (tcall_slot_ *)desc->arena;
    machine->open = NULL; /* C does not define NULL + 0 */
    if (desc->arena)
        machine->open = (tcall_open_ *)(void *)((void **)desc->arena + words);
    machine->faults = (const tcall_fault *)(const void *)machine->open;
    machine->steps = TOOLCALL_MAX_STEPS;
    machine->gap = words * sizeof(void *);
    if (!desc->text || !desc->arena ||
        ((target->node || target->object) && !target->rows))
        tcall_machine_stop_(machine, TCALL_E_USAGE);
    else if (!desc->size || machine->gap < least)
        tcall_machine_stop_(machine, TCALL_E_MEMORY);
    if (machine->error)
        return machine->error;
    machine->room = desc->size - 1;
    machine->gap -= least;
    return TCALL_OK;
}
