#pragma once
#include "jsmn.h"
#include "text.c"

/* ==========================================================================
 * >>jsmn
 */

#ifdef TOOLCALL_JSMN

int tcall_tree(tcall_json value, jsmntok_t *tok, unsigned cap)
{
    jsmn_parser parser;
    tcall_type type = tcall_json_type(value);
    tcall_str text;
    int r;
    if (type == TCALL_MISSING)
        return TCALL_E_USAGE;
    text = tcall_text_verbatim_(value.at);
    if (type < TCALL_STRING) { /* jsmn wants something to follow it */
        if (!cap)
            return TCALL_E_MEMORY;
        tok->type = JSMN_PRIMITIVE;
        tok->start = tok->size = 0;
        tok->end = (int)text.len;
        tok->parent = -1;
        return 1;
    }
    jsmn_init(&parser);
    r = jsmn_parse(&parser, text.ptr, text.len, tok, cap);
    return r == JSMN_ERROR_NOMEM ? TCALL_E_MEMORY : r < 0 ? TCALL_E_USAGE : r;
}

#endif /* TOOLCALL_JSMN */
