#pragma once
#include "text.h"

/* ==========================================================================
 * >>jsmn: a value as a tree of tokens
 *
 * For whoever wants the tokens of jsmn, in programs with TOOLCALL_JSMN.
 */

#ifdef TOOLCALL_JSMN

/* Makes jsmn's tokens of a value, of which no string was decoded yet: the
 * offsets in them count from value.at. Returns how many there are;
 * TCALL_E_MEMORY where cap is too few; TCALL_E_USAGE for a missing value and
 * one in which a getter decoded a string, which is no JSON text any more. */
TCALL_API int tcall_tree(tcall_json value, jsmntok_t *tok, unsigned cap);
#endif /* TOOLCALL_JSMN */
