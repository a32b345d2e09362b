#pragma once
#include "base.h"

/* ==========================================================================
 * >>synonyms: words that mean much the same
 *
 * English words of devices, offices, sums and the web, 8 KB of them, for
 * tcall_pick_opts.synonyms. Only a program that names them carries them.
 */

/* Texts, the last followed by NULL, of lines: the words of a line mean much the
 * same. They are in small letters and separated by spaces. */
#ifndef TOOLCALL_STATIC
extern const char *const tcall_synonyms[];
#endif
