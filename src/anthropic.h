#pragma once
#include "provider.h"

/* ==========================================================================
 * >>anthropic: Messages
 *
 * TOOLCALL_NO_ANTHROPIC leaves it out.
 */

#ifndef TOOLCALL_NO_ANTHROPIC
#define TCALL_HAS_ANTHROPIC_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_anthropic;
#endif
#endif
