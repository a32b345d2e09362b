#pragma once
#include "provider.h"

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 *
 * TOOLCALL_NO_RESPONSES leaves it out.
 */

#ifndef TOOLCALL_NO_RESPONSES
#define TCALL_HAS_RESPONSES_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_responses;
#endif
#endif
