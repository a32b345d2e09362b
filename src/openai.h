#pragma once
#include "provider.h"

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 *
 * TOOLCALL_NO_OPENAI leaves it out, and the servers that speak its format.
 */

#ifndef TOOLCALL_NO_OPENAI
#define TCALL_HAS_OPENAI_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_openai;
#endif
#endif
