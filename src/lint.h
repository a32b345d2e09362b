#pragma once
#include "tools.h"

/* ==========================================================================
 * >>lint: what is wrong with definitions before a model sees them
 *
 * For the desk and for CI, where a table of tools is made: what providers
 * would refuse and what models would not understand. Needs no memory.
 * TOOLCALL_NO_LINT leaves it out.
 */

#ifndef TOOLCALL_NO_LINT

/* Something found. code: "name" (a rule of provider, or used twice),
 * "description" (its length), "parameter" (without a description), "schema"
 * (cannot be checked against), "strict" (no strict mode for this schema). */
typedef struct tcall_finding {
    const char *code;
    const char *provider; /* whose rule it is; NULL: everybody's */
    const tcall_tool *tool;
    tcall_str pointer; /* JSON Pointer (RFC 6901) into the tool: "/name",
                          "/parameters/properties/x"; cut after 190 bytes */
    tcall_str text;    /* what is wrong and what to do; valid only until found
                          returns, as is pointer */
    bool note;         /* good to know, but nothing is wrong */
} tcall_finding;

/* Reports each finding to found and returns how many were no notes. Names are
 * checked against the rules of OpenAI, Anthropic, Gemini and MCP. A description
 * should have 10 to 20 tokens (of about four bytes) for a tool with at most one
 * plain parameter, 25 to 40 for one with nested or more than four, else 10 to
 * 40. Parameters are those below properties and items, down to 8 levels. A
 * schema that does not fit a strict mode is a note, unless the tool asks for it
 * (tool->strict). */
TCALL_API int
tcall_lint(const tcall_tool *tools, size_t tool_count,
           void (*found)(void *user, const tcall_finding *finding), void *user);

#endif
