/* A user's file. Its value: 0 where jsmn makes the tokens, 2 where toolcall.h
 * does. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"

#if defined(WITH_INT64) == defined(TOOLCALL_NO_INT64)
#error "a switch does not arrive"
#endif

int main(void)
{
    char text[] = "[1, 2]";
    tcall_json v;
    if (tcall_json_parse(&v, text, sizeof text - 1, NULL) < 0)
        return 1;
#ifdef JSMN_H
    return 0;
#else
    return 2;
#endif
}
