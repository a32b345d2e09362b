#pragma once
#include "provider.h"

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_responses;
#endif
