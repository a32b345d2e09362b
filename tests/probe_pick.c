/* probe pick: first the tools, then an input each line. Beside "q" and "k" it
 * takes "relative" (percent), "min" (thousandths), "synonyms" (text; default:
 * those of the library). A
 * number as argument: bytes of the block; default: room for records. */
#include "probe.h"

static const char *probe_join(tcall_json list)
{
    tcall_json v;
    char *text;
    size_t len = 1;
    if (tcall_json_type(list) != TCALL_ARRAY)
        return tcall_json_string(list, NULL);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v))
        len += tcall_json_str(v).len + 1;
    text = (char *)calloc(len, 1);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v)) {
        strcat(text, tcall_json_string(v, ""));
        strcat(text, " ");
    }
    return text;
}

static void probe_pick_tools(tcall *tc, tcall_json list, size_t size)
{
    size_t n = 0;
    tcall_tool *tools = probe_tools(list, &n);
    tcall_json v = tcall_json_get(list, "tools");
    memset(tc, 0, sizeof *tc);
    tc->desc.tools = tools;
    tc->desc.tool_count = n;
    tc->desc.allow = TCALL_READ;
    for (v = tcall_json_first(v), n = 0; v.at; v = tcall_json_next(v), n++) {
        tools[n].title = tcall_json_string(tcall_json_get(v, "title"), NULL);
        tools[n].tags = probe_join(tcall_json_get(v, "tags"));
    }
    tcall_block_init(&tc->block, malloc(size), size);
}

static void probe_pick_line(tcall *tc, tcall_json in, FILE *out)
{
    static char result[1 << 16];
    tcall_json q = tcall_json_get(in, "q");
    tcall_pick_opts opts;
    tcall_picked picks[255];
    const char *synonyms[2] = {NULL, NULL};
    tcall_writer w;
    int i, n;
    memset(&opts, 0, sizeof opts);
    opts.max = (uint8_t)tcall_json_int(tcall_json_get(in, "k"), 0);
    opts.relative = (uint8_t)tcall_json_int(tcall_json_get(in, "relative"), 0);
    opts.min_score = (uint16_t)tcall_json_int(tcall_json_get(in, "min"), 0);
    synonyms[0] = tcall_json_string(tcall_json_get(in, "synonyms"), NULL);
    opts.synonyms = synonyms[0] ? synonyms : tcall_synonyms;
    n = tcall_pick(tc, tcall_json_str(q), &opts, picks, 255);
    tcall_writer_init(&w, result, sizeof result);
    tcall_write_open(&w, '{');
    if (n < 0) {
        tcall_write_key(&w, "error");
        tcall_write_string(&w, tcall_error_code(n));
    }
    tcall_write_key(&w, "picks");
    tcall_write_open(&w, '[');
    for (i = 0; i < n; i++) {
        tcall_write_open(&w, '{');
        tcall_write_key(&w, "name");
        tcall_write_string(&w, picks[i].tool->name);
        tcall_write_key(&w, "score");
        tcall_write_fixed(&w, picks[i].score, 3);
        tcall_write_close(&w, '}');
    }
    tcall_write_close(&w, ']');
    tcall_write_close(&w, '}');
    fprintf(out, "%.*s\n", (int)w.fill, result);
}

int probe_pick(int argc, char **argv, FILE *in, FILE *out)
{
    size_t len, size = (size_t)64 << 20;
    tcall tc;
    char *line = probe_line(in, &len);
    if (argc > 0)
        size = (size_t)atol(argv[0]);
    if (!line)
        return 0;
    probe_pick_tools(&tc, probe_parse(line, len), size);
    while ((line = probe_line(in, &len)) != NULL) {
        probe_pick_line(&tc, probe_parse(line, len), out);
        free(line);
    }
    return 0;
}
