#pragma once
#include "provider.h"

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_openai;
#endif
