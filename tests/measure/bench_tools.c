/* Runs calls of the tools as a model would make them, for bench_tools.py:
 *
 *     bench_tools ROOT grep PATTERN   one grep of the whole tree
 *     bench_tools ROOT read           every file that standard input names
 *
 * Results go to standard output, as cat -n and grep -rn write theirs. */
#define _GNU_SOURCE
#define TOOLCALL_IMPLEMENTATION
#include "tools/files.h"

#include <stdio.h>

static char block[1 << 20], memory[4 * TTOOL_MEMORY], result[1 << 20];
static char arguments[1 << 16];
static ttool_workspace ws;
static tcall_tool rows[TTOOL_FILE_TOOLS];
static tcall tc;

/* Hydrates, invokes and prints the call whose arguments w holds. */
static int call(const char *name, const tcall_writer *w)
{
    tcall_call c;
    tcall_writer out;
    int r;
    memset(&c, 0, sizeof c);
    c.name = tcall_str_of(name);
    c.arguments.ptr = w->buf;
    c.arguments.len = w->fill;
    tcall_hydrate(&tc, &c);
    do {
        tcall_writer_init(&out, result, sizeof result);
        r = tcall_invoke(&tc, &c, &out);
    } while (r == TCALL_E_AGAIN);
    fwrite(result, 1, out.fill, stdout);
    tcall_release(&tc, &c);
    return r;
}

static int grep(const char *pattern)
{
    tcall_writer w;
    tcall_writer_init(&w, arguments, sizeof arguments);
    tcall_write_open(&w, '{');
    tcall_write_key(&w, "pattern");
    tcall_write_string(&w, pattern);
    tcall_write_key(&w, "limit");
    tcall_write_int(&w, 1000);
    tcall_write_close(&w, '}');
    return call("grep", &w);
}

/* 50 files in each call. */
static int read_all(void)
{
    static char path[TTOOL_MAX_PATH];
    bool more = true;
    int r = TCALL_OK;
    while (more && r == TCALL_OK) {
        tcall_writer w;
        int n;
        tcall_writer_init(&w, arguments, sizeof arguments);
        tcall_write_open(&w, '{');
        tcall_write_key(&w, "limit");
        tcall_write_int(&w, 0);
        tcall_write_key(&w, "file_paths");
        tcall_write_open(&w, '[');
        for (n = 0; n < 50 && more; n++) {
            more = fgets(path, sizeof path, stdin) != NULL;
            path[more ? strcspn(path, "\n") : 0] = '\0';
            if (more)
                tcall_write_string(&w, path);
            else
                break;
        }
        tcall_write_close(&w, ']');
        tcall_write_close(&w, '}');
        if (n)
            r = call("read", &w);
    }
    return r;
}

int main(int argc, char **argv)
{
    ttool_workspace_desc wd;
    tcall_desc d;
    memset(&wd, 0, sizeof wd);
    memset(&d, 0, sizeof d);
    wd.root = argc > 2 ? argv[1] : "";
    wd.memory = memory;
    wd.memory_size = sizeof memory;
    wd.max_tokens = 1 << 20;
    d.block = block;
    d.lenient = &tcall_lenient;
    d.patterns = &tcall_patterns;
    d.block_size = sizeof block;
    d.tools = rows;
    d.tool_count = ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS, &ws);
    d.allow = TCALL_READ;
    if (ttool_workspace_open(&ws, &wd) < 0 || tcall_init(&tc, &d) < 0)
        return 2;
    return (argc > 3 ? grep(argv[3]) : read_all()) == TCALL_OK ? 0 : 1;
}
