/*
 * probe.h - what the verbs of the probe share; each has a file of its own
 */
#include "toolcall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* probe_lines.c */
char *probe_line(FILE *in, size_t *len);
char *probe_file(const char *path, size_t *len);
tcall_json probe_parse(char *text, size_t len);
char *probe_text(tcall_json v);

/* probe_shapes.c */
int probe_shapes(int count, char **files);
int probe_told(FILE *in, FILE *out);

/* probe_args.c */
int probe_args(FILE *in, FILE *out);

/* probe_schema.c */
int probe_schema(FILE *in, FILE *out);

/* probe_read.c */
const tcall_provider *probe_provider(const char *name);
const tcall_text_calls *probe_text_calls(tcall_json value);
int probe_read_out(void *user, const char *bytes, size_t len);
int probe_read(int argc, char **argv, FILE *in, FILE *out);

/* probe_write.c */
int probe_write(int argc, char **argv, FILE *in, FILE *out);

/* probe_call.c */
tcall_tool *probe_tools(tcall_json list, size_t *count);
int probe_call(const char *path, FILE *in, FILE *out);

/* probe_turn.c */
int probe_turn(FILE *in, FILE *out);

/* probe_pick.c */
int probe_pick(int argc, char **argv, FILE *in, FILE *out);
