/*
 * machine.h - tools for the machine that the agent runs on
 *
 * Time, load, temperature, GPIO lines and units: a table that the model gets to
 * see, and a function for each row.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "toolcall.h"

#define MACHINE_TOOLS 6
extern const tcall_tool machine_tools[MACHINE_TOOLS];

#endif /* MACHINE_H */
