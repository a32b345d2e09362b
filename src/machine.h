#pragma once
#include "node.h"

/* ==========================================================================
 * >>machine: bytes in, checked text and structs out
 *
 * A machine is fed JSON in pieces of any length, even single bytes. In one pass
 * it recognises RFC 8259 strictly, checks each value against what may come,
 * writes it as checked text, and stores it where a shape has a place for it:
 *
 *     tcall_machine machine;
 *     tcall_machine_desc desc = {0};
 *
 *     desc.target.node = schema.root;
 *     desc.target.rows = schema.rows;
 *     desc.text = text, desc.size = sizeof text;
 *     desc.arena = arena, desc.arena_size = sizeof arena;
 *     tcall_machine_init(&machine, &desc);
 *     while ((len = receive(bytes)) > 0)
 *         tcall_machine_feed(&machine, bytes, len);
 *     if (tcall_machine_end(&machine) == TCALL_OK)
 *         run(machine.text, machine.len);
 *
 * Checked text is strict and compact JSON: members and items in the order in
 * which they came, numbers with their digits, every character in one spelling,
 * coercions applied, ended by NUL. It is never longer than what came. What
 * misses its schema or shape is a fault, and reading goes on; wrong syntax ends
 * it.
 *
 * For each open value the machine keeps a run of frames, one for each node that
 * is at work on it, in the arena. Faults and coercions lie at its end.
 */

/* Coercions of one text that are kept; further ones are only counted. */
#define TCALL_COERCIONS_ 8

typedef struct tcall_machine tcall_machine;

/* Who is at work on values; see tcall_schema_rows. Its members are private. */
typedef struct tcall_rows tcall_rows;

/* What may come, and where it goes: one of object and node; with neither of
 * them any value may come. */
typedef struct tcall_target {
    const tcall_object *object; /* in flash; out is its struct */
    const tcall_node *node;
    const tcall_rows
        *rows; /* &tcall_shape_rows with an object; &tcall_schema_rows with
                * a node, the root of a schema, NULL where it was refused */
    void *out;
} tcall_target;

/* How to read. Zero: any JSON value, of which no text is kept. It and its
 * memories stay the caller's and live as long as the machine. */
typedef struct tcall_machine_desc {
    tcall_target target;
    char *text;  /* for the checked text, or NULL, if the target is zero */
    size_t size; /* one more than the JSON text has bytes is enough */
    void *arena; /* for frames and faults, aligned to pointers */
    size_t arena_size; /* 1 KB does for most; see tcall_schema */
    /* tcall_coerce: what misses its node, but means one that all admit, becomes
     * that, see there. NULL: it does not. */
    uint8_t (*coerce)(tcall_machine *machine, uint8_t types);
    bool object; /* the root must be an object, else TCALL_E_NOT_OBJECT */
    bool for_c;  /* strings with U+0000 and numbers beyond the range of double
                  * are refused with TCALL_E_NUL and TCALL_E_RANGE */
} tcall_machine_desc;

/* One thing that is wrong. Its place is an offset in the checked text, from
 * which the way to it can be walked out. 20 bytes on 32 bits. */
typedef struct tcall_fault {
    uint8_t role;    /* private */
    uint8_t keyword; /* TCALL_ON_... */
    uint16_t count;  /* REQUIRED: which name; UNIQUE: which item; ENUM and the
                      * like: 0; else characters, items, members, matches;
                      * 0xFFFF: or more */
    uint32_t at;     /* of the value; of an unknown or double name, the name */
    const tcall_node *node; /* that it misses, or NULL: it misses shape */
    const tcall_row *row;   /* of node; NULL: its types; one that brought a node
                             * that is false: the row of the parent */
    const void *shape;      /* that it misses: its tcall_shape; OTHERS, REQUIRED
                             * and DUPLICATE: its tcall_object; or NULL */
} tcall_fault;

/* What happened to a value that was coerced. */
enum {
    TCALL_COERCED_TEXT_,   /* it was a string that held it */
    TCALL_COERCED_WORD_,   /* the same, True or False */
    TCALL_COERCED_ABSENT_, /* it was null, and its member is left out; at is
                            * where the object begins */
    TCALL_COERCED_LEFT_    /* the same, of a shape */
};

/* A value that was coerced, and where it is. */
typedef struct tcall_coercion {
    uint32_t at;      /* offset in the checked text */
    uint8_t how;      /* TCALL_COERCED_... */
    const char *name; /* ABSENT: its quote in the schema's text, LEFT: its word
                       * in flash; else NULL */
} tcall_coercion;

typedef union tcall_slot_ tcall_slot_;
typedef struct tcall_frame_ tcall_frame_;
typedef struct tcall_open_ tcall_open_;

/* A machine at work. The caller gives its memory; what is said to be private is
 * its own. */
struct tcall_machine {
    tcall_syntax_ syntax; /* private */

    int error;  /* TCALL_OK; TCALL_E_INVALID after a fault; syntax: why */
    size_t at;  /* bytes accepted so far; after an error, where */
    char *text; /* the checked text, or NULL */
    size_t len; /* of it so far */
    const tcall_fault *faults; /* the first TOOLCALL_MAX_FAULTS, in the arena */
    uint8_t fault_count, coercion_count; /* 255: or more */

    /* private */
    uint8_t types; /* of the value that is read; 0: of none, a container ends
                    * next */
    bool named;    /* a name has begun */
    bool inner;    /* the value that begins takes the place of a string */
    bool heard;    /* the value has a shape */
    bool brings;   /* a frame of the run has rows that bring more */
    uint16_t first, frames; /* the run of the value; slots in use */
    uint32_t token, key;    /* in the text: the value, the member at hand */
    uint32_t again;         /* bytes of a string that is read again, else 0 */
    uint32_t escapes; /* bytes that they take in the string, less one each */
    int32_t steps;
    size_t room;       /* for the text, without its end */
    size_t gap;        /* in the arena, at the least */
    tcall_slot_ *slot; /* the arena: frames from here, */
    tcall_open_ *open; /* open containers from its end: the innermost */
    tcall_fit_ *fit;   /* of a shape, in place of frames; else NULL */
    const tcall_machine_desc *is;
};

/* Prepares to read one JSON value. A descriptor that cannot work is
 * TCALL_E_USAGE, an arena that is too small TCALL_E_MEMORY, here and from then
 * on. */
TCALL_API int tcall_machine_init(tcall_machine *machine,
                                 const tcall_machine_desc *desc);
/* Reads the next len bytes. Returns TCALL_OK while all is well; TCALL_E_INVALID
 * after a fault, when reading goes on; or the error that ended it: that of the
 * syntax, TCALL_E_MEMORY (text or arena are too small), TCALL_E_DEPTH,
 * TCALL_E_DUPLICATE (of a name that no shape has), TCALL_E_NUL, TCALL_E_RANGE,
 * TCALL_E_BUDGET (it costs more than TOOLCALL_MAX_STEPS), TCALL_E_SCHEMA (rows
 * without a node: its schema was refused). */
TCALL_API int tcall_machine_feed(tcall_machine *machine, const char *bytes,
                                 size_t len);
/* Ends it: nothing follows. Returns what tcall_machine_feed does,
 * TCALL_E_TRUNCATED where the value is not complete, and TCALL_E_NOT_OBJECT.
 * Only after TCALL_OK may text and struct be used. */
TCALL_API int tcall_machine_end(tcall_machine *machine);

/* For tcall_machine_desc.coerce: reads a string or null that no node admits as
 * what is meant. A string becomes the value whose JSON text it is (True and
 * False are true and false), where that is admitted; an optional property that
 * is null is left out. Private: is called when such a value ends, and returns
 * its types, 0: it is done with. */
TCALL_API uint8_t tcall_coerce(tcall_machine *machine, uint8_t types);

#ifndef TOOLCALL_STATIC
/* All keywords of JSON Schema that tcall_node.rows may have. */
TCALL_API const tcall_rows tcall_schema_rows;
#endif
