#pragma once
#include "provider.h"

/* ==========================================================================
 * >>anthropic: Messages
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_anthropic;
#endif
