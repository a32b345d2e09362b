#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

int main(void)
{
    char text[] = "{\"answer\": 42}";
    tcall_tok tok[8];
    tcall_json v;
    int n = tcall_json_parse(&v, text, sizeof text - 1, tok, 8, NULL);

    return n > 0 && tcall_json_int(tcall_json_get(v, "answer"), 0) == 42 ? 0
                                                                         : 1;
}
