#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#include <stdio.h>

#ifdef JSMN_H
static const char *const tokens = "by jsmn";
#else
static const char *const tokens = "by toolcall.h";
#endif

int main(void)
{
    char text[] = "{\"answer\": 42}";
    tcall_json v;

    if (tcall_json_parse(&v, text, sizeof text - 1, NULL) < 0)
        return 1;
    printf("%d %s\n", (int)tcall_json_int(tcall_json_get(v, "answer"), 0),
           tokens);
    return 0;
}
