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

/* Text of a schema and its value: one line of output. unread: 0, or why there
 * is neither. */
static void probe_verdict(tcall_writer *w, tcall_str text, tcall_tree_ data,
                          tcall_draft draft, int unread)
{
    enum { FRAMES = 1 << 16 };
    tcall_schema s;
    tcall_validation_error faults[16];
    tcall_check check;
    void *program, *frames = malloc(FRAMES);
    int r = probe_compile(&s, text, draft, &program);
    if (unread < 0)
        r = unread;
    memset(&check, 0, sizeof check);
    check.memory = frames;
    check.size = FRAMES;
    check.errors = faults;
    check.error_cap = sizeof faults / sizeof *faults;
    tcall_write_open(w, '{');
    if (r >= 0)
        r = tcall_schema_check(&s, data, &check);
    if (r == TCALL_OK || r == TCALL_E_INVALID) {
        tcall_write_key(w, "valid");
        tcall_write_bool(w, r == TCALL_OK);
    }
    if (r == TCALL_E_INVALID) {
        tcall_write_key(w, "errors");
        tcall_write_validation_errors(w, &s, data, &check);
    } else if (r != TCALL_OK) {
        tcall_write_key(w, "refused");
        tcall_write_quote(w);
        if (r == TCALL_E_SCHEMA)
            tcall_write_schema_error(w, &s);
        else
            tcall_write_text(w, tcall_error_text(r));
        tcall_write_unquote(w);
    }
    tcall_write_close(w, '}');
    free(program);
    free(frames);
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
    size_t tokens = strlen(data) + 1;
    tcall_tok_ *tok = (tcall_tok_ *)malloc(tokens * sizeof *tok);
    tcall_tree_ tree;
    tcall_writer w;
    int draft = 4, pass;
    tcall_tree_parse_(&tree, data, tokens - 1, tok, tokens, NULL);
    while (draft > 0 && strcmp(name, drafts[draft]) != 0)
        draft--;
    for (pass = 0, answer = NULL;; pass++) {
        tcall_writer_init(&w, answer, pass ? w.len : 0);
        probe_verdict(&w, tcall_str_of(text), tree, (tcall_draft)draft, unread);
        if (pass)
            break;
        answer = (char *)malloc(w.len + 1);
    }
    fwrite(answer, 1, w.fill, out);
    fputc('\n', out);
    free(answer);
    free(data);
    free(tok);
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
