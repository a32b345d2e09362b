#pragma once
#include "reader.h"

/* ==========================================================================
 * >>text_calls: calls that come as text
 */

/* Small local models may write calls as text, between markers as those of
 * <tool_call>{"name":"f","arguments":{}}</tool_call>. After tcall_reader_end
 * this makes calls of them where the provider gave none, and ends the text
 * where they begin; unterminated ones have item.error set and must not run.
 * TCALL_OK, or an error as tcall_reader_end. */
TCALL_API int tcall_text_calls(tcall_reader *r);
