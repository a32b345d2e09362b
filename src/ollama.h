#pragma once
#include "provider.h"

/* ==========================================================================
 * >>ollama: its own /api/chat
 *
 * TOOLCALL_NO_OLLAMA leaves it out.
 */

#ifndef TOOLCALL_NO_OLLAMA
#define TCALL_HAS_OLLAMA_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_ollama;
#endif
#endif
