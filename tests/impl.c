/* The library alone, as one object: tests and programs are linked with it. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
