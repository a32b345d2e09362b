#pragma once
#include "machine.h"
#include "read.h"
#include "write.h"

/* ==========================================================================
 * >>say: what may come, and what is wrong with what came
 *
 * What is sent, checked and said of a value is said from one description, its
 * shape or node: its JSON Schema, a struct as JSON, and of a fault the place as
 * a JSON Pointer, the keyword, and a sentence for the model.
 */

/* -- Shapes as JSON Schema, structs as JSON --
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

/* -- Faults -- */

/* Writes {"path":"/days","keyword":"maximum","message":"9 is over the maximum
 * 7; send a number from 1 to 7"} for the model to read: path is a JSON Pointer
 * to the value, message names it, the rule, and what to send instead. Long
 * values are cut. text: the checked text that the fault was found in; what
 * getters decoded in it may stay so. Returns as tcall_write_... do. */
TCALL_API int tcall_write_fault(tcall_writer *w, const char *text,
                                const tcall_fault *fault);
/* Writes what coercion made of a text that was accepted, before anything in it
 * is decoded: [{"path":"/n","from":"5","to":5}]. A member that was dropped has
 * no "to"; of those that the machine does not keep, {"more":N} says how many.
 */
TCALL_API int tcall_write_coercions(tcall_writer *w,
                                    const tcall_machine *machine);
/* Writes place, what is wrong and what to send instead: "/days: 9 is over the
 * maximum 7; send an integer from 1 to 7". A name or word that came is
 * escaped as in JSON: it has no end of a line. The first `from` steps of the
 * misfit's way lead to the shape. With TOOLCALL_NO_SENTENCES it is place and
 * keyword: "/days: maximum". */
TCALL_API int tcall_write_misfit(tcall_writer *writer,
                                 const tcall_misfit *misfit,
                                 const tcall_object *shape, uint8_t from);

/* -- For authors of providers --
 *
 * A tool with strict = true asks the provider to hold the model to its schema
 * while it writes. Providers do so for a part of JSON Schema, and each for
 * another one. What is sent is rewritten to fit; where it cannot say what the
 * schema says, the tool is sent as it is, without strict mode. The schema
 * itself is untouched: what had to be left out is still checked when a call
 * comes.
 */

/* What a provider makes of schemas (tcall_provider.strict). */
enum {
    TCALL_STRICT_NONE,          /* they are sent as they are */
    TCALL_STRICT_OPENAI = 1,    /* every property is required, or may be null */
    TCALL_STRICT_ANTHROPIC = 2, /* few tools, options and unions a request */
    TCALL_STRICT_OLLAMA = 4     /* not strict: the words its templates know */
};
