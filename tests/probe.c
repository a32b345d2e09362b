/*
 * probe - opens the library to any script: JSON Lines in, JSON Lines out.
 *
 *     probe json FILE...                     accept or reject, strict RFC 8259
 *     probe shapes FILE...                   the same by the decoder of shapes
 *     probe told                             {"tool","input"}: what is wrong
 *     probe args                             {"input","schema"?,"mode"?}
 *     probe schema                           {"schema","data","draft"?}
 *     probe read PROVIDER [--split N] [--block BYTES]
 *                            {"body","stream"?,"status"?,"text_calls"?}
 *     probe write PROVIDER                   {"tools","messages","options"}
 *     probe pick [BYTES]                     {"tools"}, then {"q","k"} each
 *     probe call TOOLS.json                  {"name","arguments"}
 *     probe turn                             {"provider","tools","turns",...}
 */
#include "probe.h"

static int probe_json(int count, char **files)
{
    int i;
    for (i = 0; i < count; i++) {
        char *text = NULL;
        tcall_str all;
        size_t len = 0, n;
        FILE *f = fopen(files[i], "rb");
        if (!f) {
            perror(files[i]);
            return 2;
        }
        do {
            text = (char *)realloc(text, len + 4096);
            n = fread(text + len, 1, 4096, f);
            len += n;
        } while (n);
        fclose(f);
        all.ptr = text;
        all.len = len;
        printf("%s %s\n", tcall_json_check(all) < 0 ? "reject" : "accept",
               files[i]);
        free(text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "json") == 0)
        return probe_json(argc - 2, argv + 2);
    if (strcmp(verb, "shapes") == 0)
        return probe_shapes(argc - 2, argv + 2);
    if (strcmp(verb, "told") == 0)
        return probe_told(stdin, stdout);
    if (strcmp(verb, "args") == 0)
        return probe_args(stdin, stdout);
    if (strcmp(verb, "schema") == 0)
        return probe_schema(stdin, stdout);
    if (strcmp(verb, "read") == 0 && argc > 2)
        return probe_read(argc - 2, argv + 2, stdin, stdout);
    if (strcmp(verb, "write") == 0 && argc > 2)
        return probe_write(argc - 2, argv + 2, stdin, stdout);
    if (strcmp(verb, "pick") == 0)
        return probe_pick(argc - 2, argv + 2, stdin, stdout);
    if (strcmp(verb, "call") == 0 && argc > 2)
        return probe_call(argv[2], stdin, stdout);
    if (strcmp(verb, "turn") == 0)
        return probe_turn(stdin, stdout);
    fprintf(stderr,
            "usage: probe json FILE... | shapes FILE... | told | args | "
            "schema | "
            "read PROVIDER [--split N] [--block BYTES] | "
            "write PROVIDER | pick | call TOOLS.json | "
            "turn\n");
    return 2;
}
