/* probe args: reads arguments as hydrate does; with a schema also checks them,
 * coerces what may be coerced and checks the outcome strictly. */
#include "probe.h"

static void probe_args_key(tcall_writer *w, const char *key, const char *text)
{
    tcall_write_key(w, key);
    tcall_write_string(w, text);
}

/* Ends the line that w holds and sends it. */
static void probe_args_send(tcall_writer *w, FILE *out)
{
    tcall_write_close(w, '}');
    fwrite(w->buf, 1, w->fill, out);
    putc('\n', out);
}

static void probe_args_error(tcall_writer *w, int error, size_t at,
                             const char *message)
{
    tcall_write_key(w, "ok");
    tcall_write_bool(w, false);
    probe_args_key(w, "error", tcall_error_code(error));
    tcall_write_key(w, "at");
    tcall_write_int(w, (long)at);
    probe_args_key(w, "message", message ? message : tcall_error_text(error));
}

static void probe_args_ok(tcall_writer *w, tcall_tree_ value, uint32_t fixes,
                          tcall_str coercions)
{
    int i;
    tcall_write_key(w, "ok");
    tcall_write_bool(w, true);
    tcall_write_key(w, "value");
    tcall_write_tree_(w, value);
    tcall_write_key(w, "fixes");
    tcall_write_open(w, '[');
    for (i = 0; tcall_fix_name(i); i++)
        if (fixes >> i & 1)
            tcall_write_string(w, tcall_fix_name(i));
    tcall_write_close(w, ']');
    tcall_write_key(w, "coercions");
    tcall_write_verbatim(w, coercions.len ? coercions : tcall_str_of("[]"));
}

/* Reads into memory of exactly the size that is asked for. */
static int probe_args_read(tcall_arguments *args, tcall_str text, bool strict,
                           void **mem)
{
    int r = tcall_parse_arguments(args, text, strict, NULL, 0);
    *mem = NULL;
    if (r != TCALL_E_MEMORY)
        return r;
    *mem = malloc(args->used);
    return tcall_parse_arguments(args, text, strict, *mem, args->used);
}

static int probe_args_check(const tcall_schema *schema, tcall_tree_ value,
                            bool coerce, tcall_check *check,
                            tcall_validation_error *fault)
{
    static char memory[1 << 16];
    memset(check, 0, sizeof *check);
    check->memory = memory;
    check->size = sizeof memory;
    check->errors = fault;
    check->error_cap = 4;
    check->coerce = coerce;
    return tcall_schema_check(schema, value, check);
}

/* The arguments are read; now the schema. Writes the answer. */
static void probe_args_schema(tcall_writer *w, tcall_arguments *args,
                              bool strict, tcall_str text, char *scratch,
                              size_t size)
{
    static char program[1 << 20];
    tcall_schema schema;
    tcall_check check;
    tcall_validation_error fault[4];
    tcall_writer faults, coerced;
    tcall_arguments again;
    tcall_tree_ value = args->root;
    void *mem = NULL;
    size_t n = 0;
    int r = tcall_schema_compile(&schema, text, program, sizeof program,
                                 TCALL_DRAFT_2020);
    if (r < 0) {
        probe_args_error(w, r, schema.at, schema.reason);
        return;
    }
    r = probe_args_check(&schema, value, !strict, &check, fault);
    tcall_writer_init(&coerced, scratch, size);
    if (r == TCALL_OK && check.coerced) {
        tcall_write_coercions(&coerced, value);
        n = coerced.len;
        coerced.last = 0;
        tcall_write_tree_(&coerced, value);
        r = probe_args_read(&again, (tcall_str){scratch + n, coerced.len - n},
                            true, &mem);
        value = again.root;
        if (r >= 0)
            r = probe_args_check(&schema, value, false, &check, fault);
    }
    tcall_writer_init(&faults, scratch + coerced.len, size - coerced.len - 1);
    if (r == TCALL_E_INVALID)
        tcall_write_validation_errors(&faults, &schema, value, &check);
    faults.buf[faults.fill] = 0;
    if (r < 0)
        probe_args_error(w, r, 0, faults.fill ? faults.buf : NULL);
    else
        probe_args_ok(w, value, args->fixes, (tcall_str){scratch, n});
    free(mem);
}

/* unread: 0, or why the line could not be read. */
static void probe_args_line(tcall_json in, int unread, FILE *out)
{
    tcall_str text = tcall_json_str(tcall_json_get(in, "input"));
    tcall_json schema = tcall_json_get(in, "schema");
    bool strict = strcmp(tcall_json_string(tcall_json_get(in, "mode"), ""),
                         "strict") == 0;
    size_t size = text.len * 16 + (1 << 16);
    char *line = (char *)malloc(2 * size), *schema_text = NULL;
    tcall_arguments args;
    tcall_writer w;
    void *mem;
    int r = probe_args_read(&args, text, strict, &mem);
    if (unread < 0)
        r = unread;
    tcall_writer_init(&w, line, size);
    tcall_write_open(&w, '{');
    if (r < 0) {
        probe_args_error(&w, r, args.at, NULL);
    } else if (schema.at) {
        schema_text = probe_text(schema);
        probe_args_schema(&w, &args, strict, tcall_str_of(schema_text),
                          line + size, size);
    } else {
        probe_args_ok(&w, args.root, args.fixes, tcall_str_of(NULL));
    }
    probe_args_send(&w, out);
    free(schema_text);
    free(mem);
    free(line);
}

int probe_args(FILE *in, FILE *out)
{
    size_t len;
    char *line;
    while ((line = probe_line(in, &len)) != NULL) {
        tcall_json v;
        int r = tcall_json_parse(&v, line, len, NULL);
        probe_args_line(v, r, out);
        free(line);
    }
    return 0;
}
