/*
 * lint.h - what is wrong with definitions of tools before a model sees them
 *
 * For the desk and for CI, where a table of tools is made: what providers
 * would refuse and what models would not understand. build/lint is a program
 * around it. What tcall_init refuses and notes is found by tcall_init itself,
 * so both always agree. It asks the strict modes of OpenAI and Anthropic, so it
 * needs the library with REPORT and STRICT.
 *
 *     static void print(void *user, const ttool_finding *finding) { ... }
 *     findings = ttool_lint(tools, tool_count, print, NULL);
 */
#ifndef TTOOL_LINT_H
#define TTOOL_LINT_H

#include "toolcall.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Something found. code: "name" (against a rule of provider, or used twice),
 * "row" and "schema" (what tcall_init says of the row, or of one of its
 * schemas), "description" (its length), "parameter" (without a description),
 * "keyword" (a member of a schema that is none, but looks like one or like a
 * parameter, a required name that is no property, bounds that leave nothing
 * between them, a default that its schema refuses, nullable and format, which
 * nothing checks), "case" (a name that differs from another one only in
 * capitals), "strict" (the provider has no strict mode for this schema). */
typedef struct ttool_finding {
    const char *code;
    const char *provider; /* whose rule it is; NULL: everybody's */
    const tcall_tool *tool;
    tcall_str pointer; /* JSON Pointer (RFC 6901) into the tool: "/name",
                          "/parameters/properties/x"; cut after 190 bytes */
    tcall_str text;    /* what is wrong and what to do; it and pointer are
                          valid only during the call */
    bool note;         /* worth knowing, but nothing is wrong */
} ttool_finding;

/* Calls found for each finding and returns how many were no notes. Names are
 * checked against the rules of OpenAI, Anthropic, Gemini and MCP. A description
 * should have 10 to 20 tokens for a tool with at most one plain parameter, 25
 * to 40 for one with nested or more than four, else 10 to 40. Parameters are
 * those below properties and items, down to 8 levels. A schema that does not
 * fit a strict mode is a note, unless the tool asks for strict mode
 * (tool->strict). Schemas are parsed in memory from malloc. */
int ttool_lint(const tcall_tool *tools, size_t tool_count,
               void (*found)(void *user, const ttool_finding *finding),
               void *user);
/* Returns the bytes that the tools take of a request to this provider. */
size_t ttool_lint_bytes(const tcall_provider *provider, const tcall_tool *tools,
                        size_t tool_count);
/* Estimates tokens: about four bytes each. */
size_t ttool_lint_tokens(size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_LINT_H */
