/* What the probe's verbs share: lines in, values out of them. */
#include "probe.h"

/* One line without its end, of any length; NULL at the end of the input. The
 * buffer is the caller's to free. */
char *probe_line(FILE *in, size_t *len)
{
    size_t cap = 1 << 16, n = 0;
    char *line = (char *)malloc(cap);
    while (line && fgets(line + n, (int)(cap - n), in)) {
        n += strlen(line + n);
        if (n && line[n - 1] == '\n') {
            line[--n] = 0;
            *len = n;
            return line;
        }
        if (n + 1 == cap)
            line = (char *)realloc(line, cap *= 2);
    }
    *len = n;
    if (n == 0) {
        free(line);
        return NULL;
    }
    return line;
}

char *probe_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 16, n = 0, got;
    char *text = (char *)malloc(cap);
    if (!f) {
        perror(path);
        exit(2);
    }
    while (text && (got = fread(text + n, 1, cap - n - 1, f)) > 0) {
        n += got;
        if (n + 1 == cap)
            text = (char *)realloc(text, cap *= 2);
    }
    fclose(f);
    *len = n;
    return text;
}

/* Parses text in place; bad input of the probe itself ends it. */
tcall_json probe_parse(char *text, size_t len)
{
    tcall_json v;
    int r = tcall_json_parse(&v, text, len, NULL);
    if (r < 0) {
        fprintf(stderr, "probe: input is not JSON: %s\n", tcall_error_code(r));
        exit(2);
    }
    return v;
}

/* A value as JSON text, terminated; the caller's to free. */
char *probe_text(tcall_json v)
{
    tcall_writer w;
    char *text;
    tcall_writer_init(&w, NULL, 0);
    tcall_write_json(&w, v);
    text = (char *)malloc(w.len + 1);
    tcall_writer_init(&w, text, w.len);
    tcall_write_json(&w, v);
    text[w.fill] = 0;
    return text;
}
