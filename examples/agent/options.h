/*
 * options.h - the command line
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "toolcall.h"

#include "tools/shell.h"

typedef struct options {
    const char *provider, *model, *base_url, *ca, *standin, *trace, *replay,
        *workspace;
    bool whole, yes, quiet, verbose, json, plain_http, lines, help, version;
    size_t memory_size; /* for the library */
    int max_rounds;     /* requests before a person is asked to go on */
    ttool_command commands[16];
    size_t command_count;
    char *request; /* the words of the command line */
} options;

/* Reads it. False: it is wrong, which was said. */
bool options_read(options *o, int argc, char **argv);
/* Prints what may be on it. */
void options_help(void);

#endif /* OPTIONS_H */
