#pragma once
#include "write.h"
#include "read.h"

/* ==========================================================================
 * >>shape_text: a shape as JSON Schema, a struct as JSON
 *
 * JSON Schema has no bytes, so that minLength and maxLength of text(min, max)
 * are characters there: a text of other letters than ASCII may be refused for
 * its bytes though the schema allows it. Use characters(min, max) where that
 * matters.
 */

/* Writes the JSON Schema (draft 2020-12) of an object: what the decoder
 * accepts, with descriptions and defaults. What may be null is written as
 * anyOf, which every provider and MCP client accepts. Returns as
 * tcall_write_... do; TCALL_E_DEPTH: it is nested deeper than
 * TOOLCALL_SHAPE_LEVELS. */
TCALL_API int tcall_write_shape(tcall_writer *writer,
                                const tcall_object *shape);
/* Writes the struct as a JSON object: the members that came, one that came as
 * null as null, and those that have a default. An item of a list that came as
 * null is not told from zero. TCALL_E_DEPTH: a value lies deeper than
 * TOOLCALL_SHAPE_LEVELS. */
TCALL_API int tcall_write_struct(tcall_writer *writer,
                                 const tcall_object *shape, const void *args);

/* -- For authors of providers -- */

/* What a provider makes of schemas (tcall_provider.strict). */
enum {
    TCALL_STRICT_NONE,          /* they are sent as they are */
    TCALL_STRICT_OPENAI = 1,    /* every property is required, or may be null */
    TCALL_STRICT_ANTHROPIC = 2, /* few tools, options and unions a request */
    TCALL_STRICT_OLLAMA = 4     /* not strict: the words its templates know */
};
