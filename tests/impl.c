/* The library alone, as one object file: every test is linked with it. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
