/*
 * commands.h - what a person types that is no request
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "examples/agent/session.h"

enum said { SAID_REQUEST, SAID_COMMAND, SAID_LEAVE };

/* Does what a line asks for, unless it is a request, or asks to leave. */
enum said command(session *s, const char *line);

#endif /* COMMANDS_H */
