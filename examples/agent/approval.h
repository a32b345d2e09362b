/*
 * approval.h - asks a person before a tool with .confirm runs
 */
#ifndef APPROVAL_H
#define APPROVAL_H

#include "examples/agent/screen.h"
#include "examples/agent/typing.h"

typedef struct approval {
    screen *screen;
    typing *typed;
    bool person;                  /* somebody sits there */
    bool yes;                     /* --yes */
    const tcall_tool *always[64]; /* need no further yes */
    size_t always_count;
    uint32_t thought_ms; /* how long the person took, in all */
} approval;

/* A person says y, n, or a for always, to this tool, until the program ends.
 * Whatever else is typed means n, and so does what was typed before the
 * question. Without a person it is n. Nobody is asked where a file would be
 * written as it is. */
tcall_verdict approval_ask(approval *a, const tcall_call *call);

#endif /* APPROVAL_H */
