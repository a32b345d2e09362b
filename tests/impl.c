/* The library alone, as one object file: tests and programs are linked with it. */
#define TOOLCALL_IMPLEMENTATION
#include "toolcall.h"
