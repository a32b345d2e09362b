#pragma once
#include "pattern.h"

/* ==========================================================================
 * >>schema: JSON Schema
 *
 * A schema is compiled to a small program that points back into the schema's
 * own text (which may lie in flash and must stay where it is), and a parsed
 * value is checked against that program: no heap, no recursion, a bounded
 * number of steps. An assertion that is not supported, or malformed, refuses
 * the whole schema; nothing is ever silently dropped.
 *
 *   eager  compile once, into memory that stays, and keep the schema:
 *            n = tcall_schema_compile(&schema, text, mem, size, draft);
 *            n >= 0: keep n bytes of mem; n < 0: schema.reason, schema.need
 *   lazy   compile into scratch memory before each check
 *   check  check.memory = scratch; check.errors = room for a few;
 *          check.coerce = true;
 *          r = tcall_schema_check(&schema, value, &check);
 *          TCALL_E_INVALID: tcall_write_validation_errors(...)
 *          TCALL_OK and check.coerced > 0: log tcall_write_coercions(&w,
 * value), write what was meant with tcall_write_tree_(&w, value), parse that
 * and check it once more with coerce = false: only that result counts
 *
 * A schema that was refused, or is zero, accepts nothing.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* The draft of a schema that has no $schema. Of $schema the URIs of these are
 * known, with or without an empty fragment; others are refused. */
typedef enum tcall_draft {
    TCALL_DRAFT_2020,
    TCALL_DRAFT_2019,
    TCALL_DRAFT_7,
    TCALL_DRAFT_6,
    TCALL_DRAFT_4
} tcall_draft;

/* The nodes, comparisons and characters that one check may cost. */
#ifndef TOOLCALL_MAX_STEPS
#define TOOLCALL_MAX_STEPS 1000000
#endif

/* The schemas that may be at work inside each other; each takes 48 bytes of
 * scratch memory. */
#ifndef TOOLCALL_MAX_FRAMES
#define TOOLCALL_MAX_FRAMES 512
#endif

/* A compiled schema, or why there is none. */
typedef struct tcall_schema {
    const char *text;
    size_t need;        /* bytes of program, also when they did not fit */
    const char *reason; /* why it was refused, or NULL */
    const char *remedy; /* what its author can do, or NULL */
    size_t at;          /* where in the text the reason is */
    /* private */
    const tcall_node_ *program;
    uint32_t nodes;
    uint32_t search; /* scratch memory that its largest pattern takes */
} tcall_schema;

/* Compiles a schema: text is one JSON value, an object, true or false, and
 * outlives *out. Returns the bytes of mem used, a multiple of 4; TCALL_E_MEMORY
 * when out->need bytes are wanted (mem may be NULL and size 0, to ask); or
 * TCALL_E_SCHEMA, and tcall_write_schema_error says what to change. */
TCALL_API int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                                   size_t size, tcall_draft draft);
/* Writes why a schema was refused as one line of text: the place as a JSON
 * Pointer, what is wrong there, and what its author can do:
 *   /properties/x/type: unknown type "dict"; use object, array, string, ... */
TCALL_API int tcall_write_schema_error(tcall_writer *w,
                                       const tcall_schema *schema);

/* One thing that is wrong with a value. */
typedef struct tcall_validation_error {
    uint32_t tok; /* the token concerned, counted from the value */
    /* private */
    uint32_t node;
    uint32_t count; /* what was counted: characters, elements, matches ... */
    uint32_t keyword;
} tcall_validation_error;

/* What a check may use, and what it found. The memory and errors stay the
 * caller's. */
typedef struct tcall_check {
    void *memory; /* scratch: a few frames; 1 KB is plenty for most */
    size_t size;
    tcall_validation_error *errors; /* may be NULL */
    size_t error_cap;
    bool coerce;        /* accept "5" for 5 and the like, see below */
    size_t error_count; /* out: how many there were, stored or not */
    size_t coerced;     /* out: how many values were marked */
    size_t need;        /* out: scratch memory used, or wanted at least */
} tcall_check;

/* Checks a value. Returns TCALL_OK; TCALL_E_INVALID with check->errors; or
 * TCALL_E_SCHEMA (it was refused), TCALL_E_MEMORY, TCALL_E_DEPTH or
 * TCALL_E_BUDGET, which all mean that the value is not accepted.
 *
 * With coerce, a string that has the wrong type may be the text of the value
 * that was meant: of a number, true, false, True, False, an array or an object,
 * where no string is allowed. And null for an optional property may mean that
 * it is absent. Of several alternatives exactly one must accept it. Such values
 * are only marked; see above what to do. */
TCALL_API int tcall_schema_check(const tcall_schema *s, tcall_tree_ value,
                                 tcall_check *check);

/* Writes {"path":"/days","keyword":"maximum","message":"9 is over the maximum
 * 7; send a number from 1 to 7"} for the model to read: path is a JSON Pointer
 * to the value, message names it, the rule, and what to send instead. Long
 * values are cut. */
TCALL_API int tcall_write_validation_error(tcall_writer *w,
                                           const tcall_schema *schema,
                                           tcall_tree_ value,
                                           const tcall_validation_error *error);
/* Writes all errors that were stored, as an array. */
TCALL_API int tcall_write_validation_errors(tcall_writer *w,
                                            const tcall_schema *s,
                                            tcall_tree_ value,
                                            const tcall_check *check);
/* Writes what coercion made of a value: [{"path":"/n","from":"5","to":5}]. A
 * member that was dropped has no "to". */
TCALL_API int tcall_write_coercions(tcall_writer *w, tcall_tree_ value);

#endif /* TOOLCALL_NO_SCHEMA */
