#pragma once
#include "provider.h"

/* ==========================================================================
 * >>gemini: generateContent of Google
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_gemini;
#endif
