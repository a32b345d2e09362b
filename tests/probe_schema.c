/* probe schema: {"schema","data","draft"?} in; the verdict, or why the schema
 * was refused, out. */
#include "probe.h"

/* One compile, as large as it takes. */
static int probe_compile(tcall_schema *s, tcall_str text, tcall_draft draft,
                         void **mem)
{
    int r = tcall_schema_compile(s, text, NULL, 0, draft);
    *mem = malloc(s->need + 1);
    if (r == TCALL_E_MEMORY)
        r = tcall_schema_compile(s, text, *mem, s->need, draft);
    return r;
}

/* Writes the verdict on data by a schema that was compiled. */
static int probe_check(tcall_writer *w, const tcall_schema *s, tcall_str data)
{
    enum { ARENA = 1 << 18 };
    tcall_machine machine;
    tcall_machine_desc desc;
    int r, i;
    memset(&desc, 0, sizeof desc);
    desc.target.node = s->root;
    desc.target.rows = &tcall_schema_rows;
    desc.size = data.len + 1;
    desc.text = (char *)malloc(desc.size);
    desc.arena_size = ARENA;
    desc.arena = malloc(desc.arena_size);
    tcall_machine_init(&machine, &desc);
    tcall_machine_feed(&machine, data.ptr, data.len);
    r = tcall_machine_end(&machine);
    if (r == TCALL_OK || r == TCALL_E_INVALID) {
        tcall_write_key(w, "valid");
        tcall_write_bool(w, r == TCALL_OK);
    }
    if (r == TCALL_E_INVALID) {
        tcall_write_key(w, "errors");
        tcall_write_open(w, '[');
        for (i = 0; i < machine.fault_count && i < TOOLCALL_MAX_FAULTS; i++)
            tcall_write_fault(w, machine.text, &machine.faults[i]);
        tcall_write_close(w, ']');
    }
    free(desc.text);
    free(desc.arena);
    return r;
}

/* Text of a schema and its value: one line of output. unread: 0, or why there
 * is neither. */
static void probe_verdict(tcall_writer *w, tcall_str text, tcall_str data,
                          tcall_draft draft, int unread)
{
    tcall_schema s;
    void *nodes;
    int r = probe_compile(&s, text, draft, &nodes);
    if (unread < 0)
        r = unread;
    tcall_write_open(w, '{');
    if (r >= 0)
        r = probe_check(w, &s, data);
    if (r != TCALL_OK && r != TCALL_E_INVALID) {
        tcall_write_key(w, "refused");
        tcall_write_quote(w);
        if (r == TCALL_E_SCHEMA)
            tcall_write_schema_error(w, &s);
        else
            tcall_write_text(w, tcall_error_text(r));
        tcall_write_unquote(w);
    }
    tcall_write_close(w, '}');
    free(nodes);
}

static void probe_schema_line(char *line, size_t len, FILE *out)
{
    static const char *const drafts[] = {"draft2020-12", "draft2019-09",
                                         "draft7", "draft6", "draft4"};
    tcall_json v;
    int unread = tcall_json_parse(&v, line, len, NULL);
    const char *name = tcall_json_string(tcall_json_get(v, "draft"), "");
    char *text = probe_text(tcall_json_get(v, "schema")), *answer;
    char *data = probe_text(tcall_json_get(v, "data"));
    tcall_writer w;
    int draft = 4, pass;
    while (draft > 0 && strcmp(name, drafts[draft]) != 0)
        draft--;
    for (pass = 0, answer = NULL;; pass++) {
        tcall_writer_init(&w, answer, pass ? w.len : 0);
        probe_verdict(&w, tcall_str_of(text), tcall_str_of(data),
                      (tcall_draft)draft, unread);
        if (pass)
            break;
        answer = (char *)malloc(w.len + 1);
    }
    fwrite(answer, 1, w.fill, out);
    fputc('\n', out);
    free(answer);
    free(data);
    free(text);
}

int probe_schema(FILE *in, FILE *out)
{
    char *line;
    size_t len;
    while ((line = probe_line(in, &len)) != NULL) {
        if (len)
            probe_schema_line(line, len, out);
        free(line);
    }
    return 0;
}
