#pragma once
#include "write.h"
#include "read.h"

/* ==========================================================================
 * >>shape_text: a shape as JSON Schema, a struct as JSON, a misfit in words
 */

/* Writes the JSON Schema (draft 2020-12) of an object: what the decoder
 * accepts, with descriptions and defaults. Returns as tcall_write_... do. */
TCALL_API int tcall_write_shape(tcall_writer *writer,
                                const tcall_object *shape);
/* Writes the struct as a JSON object: the members that were given, and those
 * that have a default. */
TCALL_API int tcall_write_struct(tcall_writer *writer,
                                 const tcall_object *shape, const void *args);
/* Writes place, what is wrong and what to send instead: "/days: 9 is over the
 * maximum 7". The first `from` steps of the misfit's way lead to the shape. */
TCALL_API int tcall_write_misfit(tcall_writer *writer,
                                 const tcall_misfit *misfit,
                                 const tcall_object *shape, uint8_t from);
