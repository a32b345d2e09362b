#pragma once
#include "tools.h"

/* ==========================================================================
 * >>schemas: what reads the schema of a row
 *
 * Text of a schema is compiled, checked by rows, and said in sentences of its
 * own; a shape fills a struct. Rows reach all of that through the reader they
 * name, so that a program carries what its tools have.
 */

#ifndef TOOLCALL_STATIC
/* Reads into a struct, as its shape says. */
TCALL_API const struct tcall_schema_reader_ tcall_shape_reader;
/* Reads JSON Schema: see >>compile. Programs name it, and need no more. */
TCALL_API const struct tcall_schema_reader_ tcall_schema_reader;
/* The same for nodes that were made before: the compiler is left out. */
TCALL_API const struct tcall_schema_reader_ tcall_nodes_reader;
#endif

/* Returns a text, which stays the caller's, with its reader; of NULL none. */
TCALL_API tcall_schema_text tcall_schema_text_of(const char *text);
