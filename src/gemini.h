#pragma once
#include "provider.h"

/* ==========================================================================
 * >>gemini: generateContent of Google
 *
 * TOOLCALL_NO_GEMINI leaves it out.
 */

#ifndef TOOLCALL_NO_GEMINI
#define TCALL_HAS_GEMINI_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_gemini;
#endif
#endif
