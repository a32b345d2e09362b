#pragma once
#include "base.h"

/* ==========================================================================
 * >>synonyms: words that mean much the same
 *
 * English words of devices, offices and the web, for tcall_pick_opts.synonyms,
 * of which they are the default. TOOLCALL_NO_SYNONYMS leaves them out.
 */

#if !defined TOOLCALL_NO_SYNONYMS && !defined TOOLCALL_NO_PICK

/* Texts, the last followed by NULL, of lines: the words of a line mean much the
 * same. They are in small letters and separated by spaces. */
#ifndef TOOLCALL_STATIC
extern const char *const tcall_synonyms[];
#endif

#endif
