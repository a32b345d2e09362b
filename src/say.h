#pragma once
#include "machine.h"
#include "read.h"
#include "write.h"

/* ==========================================================================
 * >>say: what is wrong with a value, and what to send instead
 *
 * All of it is said from the node or shape that is missed and from the checked
 * text: the place as a JSON Pointer, the keyword, and a sentence for the model.
 */

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
