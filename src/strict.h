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
 * comes.
 */
