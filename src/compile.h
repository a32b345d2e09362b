#pragma once
#include "node.h"
#include "pattern.h"

/* ==========================================================================
 * >>compile: JSON Schema
 *
 * A schema is compiled to nodes, which a tcall_machine reads values by. They
 * point at each other and back into the schema's own text, which may lie in
 * flash: text and nodes must stay where they are. An assertion that is not
 * supported, or malformed, refuses the whole schema; nothing is ever silently
 * dropped.
 *
 *   eager  compile once, into memory that stays:
 *            n = tcall_schema_compile(&schema, text, mem, size, draft);
 *            n >= 0: keep the first n bytes of mem; what it took beyond is free
 *            n < 0: schema.reason, schema.need
 *   lazy   compile into scratch memory before each value
 *   read   desc.target.node = schema.root; desc.target.rows =
 *          &tcall_schema_rows; see tcall_machine
 *
 * A schema that was refused, or is zero, has no root: it must accept nothing.
 */

/* The draft of a schema that has no $schema. Of $schema the URIs of these are
 * known, with or without an empty fragment; others are refused. */
typedef enum tcall_draft {
    TCALL_DRAFT_2020,
    TCALL_DRAFT_2019,
    TCALL_DRAFT_7,
    TCALL_DRAFT_6,
    TCALL_DRAFT_4
} tcall_draft;

/* The schemas that may look at one value at the same time, alternatives
 * counted; each takes 24 bytes of scratch memory. */
#ifndef TOOLCALL_MAX_FRAMES
#define TOOLCALL_MAX_FRAMES 1024
#endif

/* A compiled schema, or why there is none. */
typedef struct tcall_schema {
    const char *text;
    size_t len;
    size_t need; /* bytes of memory to compile it, also when they did not fit:
                  * some more than it uses then */
    const char *reason; /* why it was refused, or NULL */
    const char *remedy; /* what its author can do, or NULL */
    size_t at;          /* where in the text the reason is: of several faults
                         * the first one there */
    const tcall_node *root; /* NULL: refused */
    size_t used;    /* bytes of the memory, as long as the schema is in use */
    uint16_t width; /* frames that one value needs at most */
} tcall_schema;

/* Compiles a schema: text is one JSON value, an object, true or false, need not
 * end with NUL, and outlives *out. Returns the bytes of mem used;
 * TCALL_E_MEMORY when out->need bytes are wanted (mem may be NULL and size 0,
 * to ask), and no byte less; or TCALL_E_SCHEMA, and tcall_write_schema_error
 * says what to change. Without that memory a keyword that is refused may not be
 * found, only wrong JSON always is. mem is best aligned to pointers: what it is
 * off by is wanted, too. Time and memory grow as the text does. */
TCALL_API int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                                   size_t size, tcall_draft draft);
/* Writes why a schema was refused as one line of text: the place as a JSON
 * Pointer, what is wrong there, and what its author can do:
 *   /properties/x/type: unknown type "dict"; use object, array, string, ... */
TCALL_API int tcall_write_schema_error(tcall_writer *w,
                                       const tcall_schema *schema);
