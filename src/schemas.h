#pragma once
#include "tools.h"
#include "machine.h"

/* ==========================================================================
 * >>schemas: what reads the schema text of a row
 *
 * Text of a schema is compiled, checked by rows, and said in sentences of its
 * own. Rows reach all of that through the reader they name, so that a program
 * whose tools have shapes carries none of it.
 */

struct tcall_author_;
struct tcall_said_fault_;

/* Private: a schema of a row that is judged. */
typedef struct tcall_judged_ {
    tcall *tc;
    const tcall_tool *tool;
    const char *which;
} tcall_judged_;

/* Private: what is asked of a text. */
struct tcall_schema_reader_ {
    /* At the start: compiles into the free part of the block, and reports what
     * is wrong with the text. */
    int (*judge)(const struct tcall_judged_ *judged, tcall_schema *schema,
                 tcall_schema_text source);
    /* Compiles as its author wants it; NULL: to the end of the memory. */
    int (*compile)(tcall_schema *schema, tcall_schema_text source, void *mem,
                   size_t size, const struct tcall_author_ *author);
    const tcall_rows *rows;
    void (*say)(struct tcall_said_fault_ *fault);
    /* Writes a value that the schema may allow. */
    void (*example)(tcall_writer *out, const char *text, int depth);
};

#ifndef TOOLCALL_STATIC
/* Reads JSON Schema: see >>compile. Programs name it, and need no more. */
TCALL_API const struct tcall_schema_reader_ tcall_schema_reader;
/* The same for nodes that were made before: the compiler is left out. */
TCALL_API const struct tcall_schema_reader_ tcall_nodes_reader;
#endif
