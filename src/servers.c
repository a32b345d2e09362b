#pragma once
#include "servers.h"
#include "openai.c"

/* ==========================================================================
 * >>servers
 */

#ifdef TCALL_HAS_SERVERS_

#define TCALL_X_(name, url, path, header, prefix, reasoning, strict, quirks) \
    TCALL_DATA_ const tcall_provider tcall_##name = {#name,                  \
                                                     url,                    \
                                                     path,                   \
                                                     NULL,                   \
                                                     header,                 \
                                                     prefix,                 \
                                                     {NULL, NULL},           \
                                                     tcall_openai_write_,    \
                                                     &tcall_openai_paths_,   \
                                                     tcall_openai_stops_,    \
                                                     tcall_openai_types_,    \
                                                     reasoning,              \
                                                     strict,                 \
                                                     quirks};
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_

#endif /* TCALL_HAS_SERVERS_ */
