/*
 * commands.h - what a person types that begins with /
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "examples/agent/session.h"

/* Does what a line asks for. False: it asks to leave. */
bool command(session *s, char *line);

#endif /* COMMANDS_H */
