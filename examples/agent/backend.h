/*
 * backend.h - who answers: which provider, where, and with what key
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "toolcall.h"

#include <sys/types.h>

typedef struct backend {
    const char *name;
    const tcall_provider *provider;
    const char *key, *url, *model; /* environment variables */
    const char *default_url, *default_model;
    const char *standin_base; /* what the stand-in's address lacks */
    const char *path;         /* below the base URL; NULL: the provider's */
} backend;

/* Returns that of a name, or NULL. */
const backend *backend_named(const char *name);
/* Returns that whose key or address is set, or NULL: then the stand-in has to
 * do. */
const backend *backend_of_environment(const char *base_url);
/* Prints all names. */
void backend_list(void);
/* Writes the whole URL of one that may be just "host" or "host:port". */
void backend_url(char *out, size_t cap, const char *url, const backend *b);
/* Returns the value of a variable of the environment; NULL: none, or empty. */
const char *from_environment(const char *name);

/* A program that answers in place of a model. */
typedef struct standin {
    pid_t pid;
    int input; /* the stand-in ends when this is closed */
    char url[64];
    char ca[512];
} standin;

/* Starts it, and learns its address. */
bool standin_start(standin *s);
void standin_stop(standin *s);

#endif /* BACKEND_H */
