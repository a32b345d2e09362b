/* probe call: tools that answer with the arguments they were given. */
#include "probe.h"

static int probe_echo(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    tcall_write_open(out, '{');
    tcall_write_key(out, "success");
    tcall_write_bool(out, true);
    tcall_write_key(out, "output");
    tcall_write_json(out, args);
    return tcall_write_close(out, '}');
}

tcall_tool *probe_tools(tcall_json list, size_t *count)
{
    tcall_tool *tools;
    tcall_json v;
    size_t n = 0;
    if (tcall_json_type(list) == TCALL_OBJECT)
        list = tcall_json_get(list, "tools");
    tools =
        (tcall_tool *)calloc((size_t)tcall_json_count(list) + 1, sizeof *tools);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v)) {
        tcall_json schema = tcall_json_get(v, "parameters");
        tools[n].name = tcall_json_string(tcall_json_get(v, "name"), "");
        tools[n].description =
            tcall_json_string(tcall_json_get(v, "description"), NULL);
        tools[n].parameters =
            tcall_schema_text_of(schema.at ? probe_text(schema) : NULL);
        tools[n].strict = tcall_json_bool(tcall_json_get(v, "strict"), false);
        tools[n].permissions = TCALL_READ;
        tools[n].run = probe_echo;
        n++;
    }
    *count = n;
    return tools;
}

static void probe_call_line(tcall *tc, int ready, tcall_str report,
                            tcall_json in, FILE *out)
{
    static char result[1 << 20];
    tcall_json arguments = tcall_json_get(in, "arguments");
    tcall_writer w;
    tcall_call call;
    char *text = NULL;
    tcall_writer_init(&w, result, sizeof result);
    memset(&call, 0, sizeof call);
    call.name = tcall_json_str(tcall_json_get(in, "name"));
    call.arguments = tcall_json_str(arguments);
    if (tcall_json_type(arguments) >= TCALL_ARRAY) {
        text = probe_text(arguments);
        call.arguments = tcall_str_of(text);
    }
    if (ready < 0) {
        tcall_write_open(&w, '{');
        tcall_write_key(&w, "success");
        tcall_write_bool(&w, false);
        tcall_write_key(&w, "error_type");
        tcall_write_string(&w, "system");
        tcall_write_key(&w, "error");
        tcall_write_str(&w, report);
        tcall_write_close(&w, '}');
    } else {
        tcall_hydrate(tc, &call);
        tcall_invoke(tc, &call, &w);
        tcall_release(tc, &call);
    }
    fprintf(out, "%.*s\n", (int)w.fill, result);
    free(text);
}

int probe_call(const char *path, FILE *in, FILE *out)
{
    static char report[1 << 16];
    size_t len, count, size = (size_t)64 << 20;
    char *text = probe_file(path, &len), *line;
    tcall_tool *tools = probe_tools(probe_parse(text, len), &count);
    tcall_writer faults;
    tcall_desc desc;
    tcall tc;
    int ready;
    tcall_writer_init(&faults, report, sizeof report);
    memset(&desc, 0, sizeof desc);
    desc.block = malloc(size);
    desc.lenient = &tcall_lenient;
    desc.patterns = &tcall_patterns;
    desc.block_size = size;
    desc.tools = tools;
    desc.tool_count = count;
    desc.allow = TCALL_READ;
    desc.report = &tcall_report;
    desc.faults = &faults;
    ready = tcall_init(&tc, &desc);
    while ((line = probe_line(in, &len)) != NULL) {
        tcall_json v = probe_parse(line, len);
        tcall_str all;
        all.ptr = report;
        all.len = faults.fill;
        probe_call_line(&tc, ready, all, v, out);
        free(line);
    }
    return 0;
}
