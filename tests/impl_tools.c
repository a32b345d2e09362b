/* The tools alone, as one object file: for tests/matrix. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define TTOOL_IMPLEMENTATION
#include "tools/files.h"
#include "tools/shell.h"
#include "tools/task.h"
#include "tools/todo.h"
#include "tools/web.h"
