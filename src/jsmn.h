#pragma once
#include "json.h"

/* ==========================================================================
 * >>jsmn: a value as a tree of tokens
 *
 * For whoever wants the tokens of jsmn. With TOOLCALL_JSMN jsmn.h is included
 * first, or found by the compiler, and JSMN_STRICT and JSMN_PARENT_LINKS are
 * defined, for jsmn.h too.
 */

#ifdef TOOLCALL_JSMN
#if !defined JSMN_STRICT || !defined JSMN_PARENT_LINKS
#error "TOOLCALL_JSMN: define JSMN_STRICT and JSMN_PARENT_LINKS, for jsmn.h too"
#endif
#ifndef JSMN_H
#include <jsmn.h>
#endif

/* Makes jsmn's tokens of a value, of which no string was decoded yet: the
 * offsets in them count from value.at. Returns how many there are;
 * TCALL_E_MEMORY where cap is too few; TCALL_E_USAGE for a missing value and
 * one in which a getter decoded a string, which is no JSON text any more. */
TCALL_API int tcall_tree(tcall_json value, jsmntok_t *tok, unsigned cap);
#endif /* TOOLCALL_JSMN */
