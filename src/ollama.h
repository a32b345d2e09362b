#pragma once
#include "provider.h"

/* ==========================================================================
 * >>ollama: its own /api/chat
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_ollama;
#endif
