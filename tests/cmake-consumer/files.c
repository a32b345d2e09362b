/* files.c - a program with the ready-made tools for files, to try a package */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include "tools/files.h"

#include <stdio.h>

int main(void)
{
    static char memory[TTOOL_MEMORY];
    static ttool_workspace ws;
    tcall_tool rows[TTOOL_FILE_TOOLS];
    ttool_workspace_desc desc = {0};
    int r;

    desc.root = "/";
    desc.memory = memory;
    desc.memory_size = sizeof memory;
    r = ttool_workspace_open(&ws, &desc);
    printf("%lu tools, and / as their workspace: %s\n",
           (unsigned long)ttool_rows(rows, ttool_file_tools, TTOOL_FILE_TOOLS,
                                     &ws),
           tcall_error_code(r));
    return r != TCALL_E_DENIED;
}
