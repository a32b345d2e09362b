#pragma once
#include "tools.h"

/* ==========================================================================
 * >>registry: how a table of tools becomes one that can be called
 *
 * See >>tools.
 */
