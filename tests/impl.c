/* The library alone, as one object file: for tests/matrix and tests/measure. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
