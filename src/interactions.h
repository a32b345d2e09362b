#pragma once
#include "provider.h"

/* ==========================================================================
 * >>interactions: the Interactions API of Google, newer than generateContent
 *
 * Nothing is kept on the server: each request holds the whole conversation.
 */

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_interactions;
#endif
