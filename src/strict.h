#pragma once
#include "tools.h"

/* ==========================================================================
 * >>strict: schemas as providers' strict modes want them
 *
 * A tool with strict = true asks the provider to hold the model to its schema
 * while it writes. Providers do so for a part of JSON Schema, and each for
 * another one. What is sent is rewritten to fit; where it cannot say what the
 * schema says, the tool is sent as it is, without strict mode. The schema
 * itself is untouched: what had to be left out is still checked when a call
 * comes. TOOLCALL_NO_STRICT leaves this chapter out; tools with strict = true
 * are refused then.
 */

/* -- For authors of providers -- */

/* What a provider makes of schemas (tcall_provider.strict). */
enum {
    TCALL_STRICT_NONE,          /* they are sent as they are */
    TCALL_STRICT_OPENAI = 1,    /* every property is required, or may be null */
    TCALL_STRICT_ANTHROPIC = 2, /* few tools, options and unions a request */
    TCALL_STRICT_OLLAMA = 4     /* not strict: the words its templates know */
};
