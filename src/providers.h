#pragma once
#include "provider.h"

/* ==========================================================================
 * >>providers: all of them, by name
 */

/* Returns the provider or server of this name ("groq"), or NULL. Links all
 * that are not left out. */
TCALL_API const tcall_provider *tcall_provider_named(const char *name);
