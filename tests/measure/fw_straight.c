/* The core with straight_invoke in place of tcall_invoke: what a program that
 * uses no hooks would have without them. See size.py. */
#define INVOKE straight_invoke
#include "fw_core.c"
