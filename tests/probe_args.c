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

static void probe_args_ok(tcall_writer *w, const tcall_machine *machine,
                          uint32_t fixes)
{
    int i;
    tcall_write_key(w, "ok");
    tcall_write_bool(w, true);
    tcall_write_key(w, "value");
    tcall_write_verbatim(w, (tcall_str){machine->text, machine->len});
    tcall_write_key(w, "fixes");
    tcall_write_open(w, '[');
    for (i = 0; tcall_fix_name(i); i++)
        if (fixes >> i & 1)
            tcall_write_string(w, tcall_fix_name(i));
    tcall_write_close(w, ']');
    tcall_write_key(w, "coercions");
    tcall_write_coercions(w, machine);
}

/* What is wrong with the value, as one text. */
static void probe_args_invalid(tcall_writer *w, const tcall_machine *machine)
{
    enum { SIZE = 1 << 16 };
    char *faults = (char *)malloc(SIZE);
    tcall_writer list;
    int i;
    tcall_writer_init(&list, faults, SIZE - 1);
    tcall_write_open(&list, '[');
    for (i = 0; i < machine->fault_count && i < TOOLCALL_MAX_FAULTS; i++)
        tcall_write_fault(&list, machine->text, &machine->faults[i]);
    tcall_write_close(&list, ']');
    faults[list.fill] = 0;
    probe_args_error(w, TCALL_E_INVALID, 0, faults);
    free(faults);
}

/* Reads by a schema, or none. */
static void probe_args_read(tcall_writer *w, tcall_str text,
                            const tcall_schema *schema, bool strict)
{
    tcall_machine machine;
    tcall_machine_desc desc;
    uint32_t fixes;
    int r;
    memset(&desc, 0, sizeof desc);
    desc.target.node = schema ? schema->root : NULL;
    desc.target.rows = schema ? &tcall_schema_rows : NULL;
    desc.object = desc.for_c = true;
    desc.coerce = strict ? NULL : tcall_coerce;
    desc.size = 6 * text.len + 3;
    desc.text = (char *)malloc(desc.size);
    desc.arena_size = 1 << 18;
    desc.arena = malloc(desc.arena_size);
    r = tcall_read_arguments(&machine, &desc, text, strict, &fixes);
    if (r == TCALL_OK)
        probe_args_ok(w, &machine, fixes);
    else if (r == TCALL_E_INVALID)
        probe_args_invalid(w, &machine);
    else
        probe_args_error(w, r, machine.at, NULL);
    free(desc.text);
    free(desc.arena);
}

/* unread: 0, or why the line could not be read. */
static void probe_args_line(tcall_json in, int unread, FILE *out)
{
    static char nodes[1 << 20];
    tcall_str text = tcall_json_str(tcall_json_get(in, "input"));
    tcall_json given = tcall_json_get(in, "schema");
    bool strict = strcmp(tcall_json_string(tcall_json_get(in, "mode"), ""),
                         "strict") == 0;
    size_t size = text.len * 32 + (1 << 17);
    char *line = (char *)malloc(size);
    char *schema_text = given.at ? probe_text(given) : NULL;
    tcall_schema schema;
    tcall_writer w;
    int r = unread;
    tcall_writer_init(&w, line, size);
    tcall_write_open(&w, '{');
    if (r < 0) {
        probe_args_error(&w, r, 0, NULL);
    } else {
        if (schema_text)
            r = tcall_schema_compile(&schema, tcall_str_of(schema_text), nodes,
                                     sizeof nodes, TCALL_DRAFT_2020);
        if (r < 0)
            probe_args_error(&w, r, schema.at, schema.reason);
        else
            probe_args_read(&w, text, schema_text ? &schema : NULL, strict);
    }
    probe_args_send(&w, out);
    free(schema_text);
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
